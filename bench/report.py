"""The figures as Markdown, and the aims they are held to."""

COLUMNS = (
    ("requests/s", "requests_per_second", "{:,.0f}"),
    ("CPU per request, µs", "cpu_us_per_request", "{:.2f}"),
    ("99 % within, ms", "p99_ms", "{:.2f}"),
    ("first answer, ms", "first_answer_ms", "{:.1f}"),
)

# (what, of whom, against whom, at most).  Against None: an absolute figure.
AIMS = (
    ("CPU per request", "cpu_us_per_request", "portico", "Go net/http", 0.5),
    ("CPU per request", "cpu_us_per_request", "portico", "nginx return 200", 1.15),
    ("CPU per request", "cpu_us_per_request", "portico, threads = 2", "portico", 1.1),
    ("first answer", "first_answer_ms", "portico", "Go net/http", 1.2),
    ("resident memory, MiB", "resident_mib", "portico", None, 10),
)


def middle(value):
    return value["median"] if isinstance(value, dict) else value


def cell(value, how):
    return f"{how.format(value['median'])} ({how.format(value['min'])} to {how.format(value['max'])})"


def table(figures):
    heads = ["server"] + [head for head, _, _ in COLUMNS] + ["idle memory, MiB (with shared pages divided)", "answer, bytes"]
    yield "| " + " | ".join(heads) + " |"
    yield "|---" + "|---:" * (len(heads) - 1) + "|"
    for name, row in figures.items():
        cells = [cell(row[key], how) for _, key, how in COLUMNS]
        cells += [f"{row['resident_mib']:.1f} ({row['proportional_mib']:.1f})", str(row["answer_bytes"])]
        yield f"| {name} | " + " | ".join(cells) + " |"


def aims(figures):
    for what, key, who, against, most in AIMS:
        if who not in figures or (against and against not in figures):
            continue
        value = middle(figures[who][key])
        if against:
            value /= middle(figures[against][key])
            yield f"- {what}, {who} to {against}: {value:.2f}, aim at most {most}: {'met' if value <= most else 'MISSED'}"
        else:
            yield f"- {what}, {who}: {value:.1f}, aim at most {most}: {'met' if value <= most else 'MISSED'}"


def markdown(result):
    about, figures = result["machine"], result["figures"]
    others = max(row["others_percent"]["max"] for row in figures.values())
    lines = [
        f"# Health answer, {result['time']}", "",
        f"{about['cpu']}, {about['cores']} cores, {about['system']}, Linux {about['kernel']}; {about['compiler']}; "
        f"{about['go']}; {about['nginx']}.  portico at {about['commit']}.",
        f"{result['connections']} kept connections, {result['rounds']} rounds of {result['seconds']} s for each server in "
        f"turn, {result['starts']} starts.  Median (least to most).", "",
        *table(figures), "", *aims(figures), "",
        f"Whatever else ran used at most {others:.0f} % of a core during any run; load average at the start {about['load']}.",
    ]
    lines += [f"Without {name}: {why}." for name, why in result["missing"].items()]
    return "\n".join(lines) + "\n"
