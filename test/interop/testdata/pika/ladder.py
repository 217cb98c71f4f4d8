"""A job that always fails: QUEUE ATTEMPTS WAIT. It is tried again after WAIT ms, and is put aside after so many attempts."""
import time

from client import arguments, connect, say, take

connection = connect()
channel = connection.channel()
queue, attempts, wait = arguments[0], int(arguments[1]), int(arguments[2])
dead = queue + ".dead"
channel.queue_declare(queue, arguments={"x-dead-letter-exchange": "", "x-dead-letter-routing-key": queue + ".wait"})
channel.queue_declare(queue + ".wait", arguments={
    "x-message-ttl": wait, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": queue})
channel.queue_declare(dead)


def deaths(properties):
    """How often the message died, by queue (without the common part of the names) and reason."""
    headers = properties.headers or {}
    return {(death["queue"][len(queue):], death["reason"]): death["count"] for death in headers.get("x-death", [])}


def work(channel, method, properties, body):
    if body == b"good":
        say("good done")
        channel.basic_ack(method.delivery_tag)
        return
    attempt = deaths(properties).get(("", "rejected"), 0) + 1
    say("attempt", attempt, int(method.redelivered))
    if attempt < attempts:
        channel.basic_reject(method.delivery_tag, requeue=False)
        return
    channel.basic_publish("", dead, body, properties)
    channel.basic_ack(method.delivery_tag)
    channel.stop_consuming()


began = time.monotonic()
channel.basic_publish("", queue, b"bad")
channel.basic_publish("", queue, b"good")
channel.basic_consume(queue, work)
channel.start_consuming()
say("waited" if time.monotonic() - began >= (attempts - 1) * wait / 1000 else "too early")
(_, properties, body), = take(channel, dead, 1)
counts = deaths(properties)
say(body.decode(), "rejected", counts["", "rejected"], "expired", counts[".wait", "expired"])
say(properties.headers["x-first-death-reason"], properties.headers["x-last-death-reason"])
for name in queue + ".wait", dead:
    channel.queue_delete(name)
connection.close()
