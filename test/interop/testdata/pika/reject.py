"""nack and reject, with and without requeue. What is requeued comes back at the head, redelivered."""
from client import arguments, connect, say

connection = connect()
channel = connection.channel()
queue, = arguments
channel.queue_declare(queue)
for body in "abcd":
    channel.basic_publish("", queue, body.encode())


def get():
    method, _, body = channel.basic_get(queue)
    say(body.decode(), "redelivered" if method.redelivered else "new", method.message_count)
    return method.delivery_tag


channel.basic_nack(get(), requeue=True)
channel.basic_reject(get(), requeue=True)
channel.basic_reject(get(), requeue=False)
get()
channel.basic_nack(get(), multiple=True, requeue=True)
get()
channel.basic_nack(get(), multiple=True, requeue=False)
get()
channel.basic_nack(0, multiple=True, requeue=True)
get()
connection.close()
