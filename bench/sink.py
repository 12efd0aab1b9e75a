"""An upstream for uploads: reads whatever is posted, keeps nothing, and says what ComfyUI says of an upload."""
import socket
import sys
import threading

ANSWER = b'{"name":"upload.bin","subfolder":"","type":"input"}'


def skip_chunked(reader):
    while True:
        left = int(reader.readline().split(b";")[0], 16)
        skip(reader, left)
        reader.readline()
        if left == 0:
            return


def skip(reader, left):
    piece = memoryview(bytearray(1 << 20))
    while left > 0:
        count = reader.readinto(piece[:min(left, len(piece))])
        if not count:
            return
        left -= count


def serve(talk):
    with talk, talk.makefile("rb", buffering=1 << 20) as reader:
        while True:
            length, chunked, first = 0, False, reader.readline()
            if not first:
                return
            while True:
                line = reader.readline().strip().lower()
                if not line:
                    break
                name, _, value = line.partition(b":")
                if name == b"content-length":
                    length = int(value)
                chunked |= name == b"transfer-encoding" and value.strip() == b"chunked"
            if chunked:
                skip_chunked(reader)
            else:
                skip(reader, length)
            talk.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                         % (len(ANSWER), ANSWER))


def main():
    with socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=64) as listener:
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()


if __name__ == "__main__":
    main()
