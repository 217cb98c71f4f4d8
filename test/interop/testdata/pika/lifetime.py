"""An exclusive queue belongs to its connection and ends with it; an auto-delete queue ends with its last consumer."""
import pika
from client import arguments, connect, say

exclusive, auto = arguments
owner, other = connect(), connect()


def outcome(action):
    """Runs the action on a new channel of the other connection and tells what came of it."""
    channel = other.channel()
    try:
        action(channel)
        return "ok"
    except pika.exceptions.ChannelClosedByBroker as error:
        return error.reply_code


owner.channel().queue_declare(exclusive, exclusive=True)
say("declare by another:", outcome(lambda ch: ch.queue_declare(exclusive, exclusive=True)))
say("consume by another:", outcome(lambda ch: ch.basic_consume(exclusive, print)))
say("publish by another:", outcome(lambda ch: ch.basic_publish("", exclusive, b"")))
owner.close()
say("after its owner:", outcome(lambda ch: ch.queue_declare(exclusive, passive=True)))
channel = other.channel()
channel.queue_declare(auto, auto_delete=True)
tags = [channel.basic_consume(auto, print) for _ in range(2)]
channel.basic_cancel(tags[0])
say("one consumer left:", outcome(lambda ch: ch.queue_declare(auto, passive=True)))
channel.basic_cancel(tags[1])
say("no consumer left:", outcome(lambda ch: ch.queue_declare(auto, passive=True)))
other.close()
