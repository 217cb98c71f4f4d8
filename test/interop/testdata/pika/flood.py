"""A tenant that floods a queue beside one that sends a message now and then: QUEUE. Prints how many messages of the modest one were served, and how
many of the flood were at most while one of them waited; then whether the flood is still there."""
import pika

from client import arguments, connect, say

FLOOD, MODEST, BETWEEN = 2000, 20, 10
[queue] = arguments
connection = connect()
channel = connection.channel()
channel.queue_declare(queue, arguments={"x-fair-by": "header:tenant"})
confirmed = connection.channel()
confirmed.confirm_delivery()  # so that the message is in the queue before the next one is asked for
served = waited = most = modest = 0


def publish(through, tenant):
    through.basic_publish("", queue, tenant.encode(), pika.BasicProperties(headers={"tenant": tenant}))


def serve(channel, method, properties, body):
    global served, waited, most, modest
    if body == b"modest":
        modest += 1
        most = max(most, waited)
        if modest == MODEST:
            say(modest, "waited for", most)
            say("flooded" if served < FLOOD else "dry")
            channel.stop_consuming()
    else:
        served += 1
        waited += 1
        if served % BETWEEN == 0:
            publish(confirmed, "modest")
            waited = 0
    channel.basic_ack(method.delivery_tag)


for _ in range(FLOOD):
    publish(channel, "flood")
channel.basic_qos(prefetch_count=1)
channel.basic_consume(queue, serve)
channel.start_consuming()
connection.close()
