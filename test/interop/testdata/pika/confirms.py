"""Publisher confirms: every publish is confirmed, one that no queue takes as well."""
from client import arguments, connect, say

connection = connect()
channel = connection.channel()
queue, = arguments
channel.queue_declare(queue)
channel.confirm_delivery()
for number in range(100):
    channel.basic_publish("", queue, b"%d" % number)
channel.basic_publish("", queue + ".nowhere", b"unroutable")
say("confirmed 101")
say("ready", channel.queue_declare(queue, passive=True).method.message_count)
connection.close()
