"""Bodies around the limit of a frame: QUEUE FRAME_MAX SIZE... Prints each size that came back whole."""
from client import arguments, connect, say, take

queue, frame_max, sizes = arguments[0], int(arguments[1]), [int(size) for size in arguments[2:]]
connection = connect(frame_max=frame_max)
channel = connection.channel()
channel.queue_declare(queue)


pattern = bytes(i * 7 % 251 for i in range(251))


def body(size):
    return (pattern * (size // len(pattern) + 1))[:size]


for size in sizes:
    channel.basic_publish("", queue, body(size))
for size, (_, _, got) in zip(sizes, take(channel, queue, len(sizes))):
    say(size, "whole" if got == body(size) else f"damaged, {len(got)} octets")
connection.close()
