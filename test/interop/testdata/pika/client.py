"""What the pika programs share: a connection to the URL in the first argument, and lines that are seen at once."""
import functools
import sys

import pika

arguments = sys.argv[2:]
say = functools.partial(print, flush=True)


def connect(**parameters):
    """Opens a connection; parameters overrule what the URL says."""
    wanted = pika.URLParameters(sys.argv[1])
    for name, value in parameters.items():
        setattr(wanted, name, value)
    return pika.BlockingConnection(wanted)


def take(channel, queue, count, **options):
    """Consumes that many messages, acknowledged as they come, and stops."""
    messages = []
    for message in channel.consume(queue, auto_ack=True, **options):
        messages.append(message)
        if len(messages) == count:
            break
    channel.cancel()
    return messages
