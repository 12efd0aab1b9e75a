"""The figures as Markdown, and the aims they are held to."""
import statistics


def summary(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values), "all": values}


def cell(value, how):
    return f"{how.format(value['median'])} ({how.format(value['min'])} to {how.format(value['max'])})"


def aim(what, value, most, how="{:.2f}"):
    return f"- {what}: {how.format(value)}, aim at most {most}: {'met' if value <= most else 'MISSED'}"


def table(heads, rows):
    yield "| " + " | ".join(heads) + " |"
    yield "|---" + "|---:" * (len(heads) - 1) + "|"
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def markdown(result, rows):
    about = result["machine"]
    lines = [
        f"# {result['time']}", "",
        f"{about['cpu']}, {about['cores']} cores, {about['system']}, Linux {about['kernel']}; {about['compiler']}; "
        f"{about['go']}; {about['nginx']}.  portico at {about['commit']}.  Load average at the start {about['load']}.",
        "Median (least to most).",
    ]
    for name, figures in result["rows"].items():
        lines += ["", f"## {rows[name].TITLE}", "", *rows[name].markdown(figures)]
    return "\n".join(lines) + "\n"
