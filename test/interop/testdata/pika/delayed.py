"""A job for later: EXCHANGE QUEUE MILLISECONDS send, or receive. To send says so when the job is confirmed; to receive prints what came."""
import pika

from client import arguments, connect, say, take

exchange, queue, delay, role = arguments
connection = connect()
channel = connection.channel()
channel.exchange_declare(exchange, "x-delayed-message", durable=True, arguments={"x-delayed-type": "direct"})
channel.queue_declare(queue, durable=True)
channel.queue_bind(queue, exchange, "job")
if role == "send":
    channel.confirm_delivery()
    for body, headers in (b"later", {"x-delay": int(delay)}), (b"now", None):
        channel.basic_publish(exchange, "job", body, pika.BasicProperties(delivery_mode=2, headers=headers), mandatory=True)
    say("confirmed")
else:
    say("ready")
    for method, properties, body in take(channel, queue, 2):  # together: both may be there by now
        say(body.decode(), (properties.headers or {}).get("x-delay", 0), int(method.redelivered))
connection.close()
