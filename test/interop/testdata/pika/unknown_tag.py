"""An ack of an unknown tag closes its channel and no other."""
import pika
from client import arguments, connect, say

connection = connect()
channel, other = connection.channel(), connection.channel()
queue, = arguments
other.queue_declare(queue)
channel.basic_ack(99)
try:
    channel.queue_declare(queue, passive=True)
except pika.exceptions.ChannelClosedByBroker as error:
    say(error.reply_code, error.reply_text)
other.basic_publish("", queue, b"still open")
say(other.basic_get(queue, auto_ack=True)[2].decode())
connection.close()
