"""Bodies around the limit of a frame: QUEUE FRAME_MAX SIZE... Prints each size that came back whole."""
from client import arguments, connect, say, take

queue, frame_max, sizes = arguments[0], int(arguments[1]), [int(size) for size in arguments[2:]]
connection = connect(frame_max=frame_max)
channel = connection.channel()
channel.queue_declare(queue)


def body(size):
    return bytes(i * 7 % 251 for i in range(size))


for size in sizes:
    channel.basic_publish("", queue, body(size))
for size, (_, _, got) in zip(sizes, take(channel, queue, len(sizes))):
    say(size, "whole" if got == body(size) else f"damaged, {len(got)} octets")
connection.close()
