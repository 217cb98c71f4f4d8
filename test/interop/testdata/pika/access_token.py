"""A client that shows an access token in the place of its password, and does what the token allows and what it does not."""
import pika

from client import arguments, connect, say

connection = connect(credentials=pika.PlainCredentials("ignored", arguments[0]))
channel = connection.channel()
channel.queue_declare("allowed-q", durable=True)
channel.basic_publish("", "allowed-q", b"hello")
method, properties, body = channel.basic_get("allowed-q", auto_ack=True)
say("got", body.decode())
try:
    channel.queue_declare("forbidden")
except pika.exceptions.ChannelClosedByBroker as refusal:
    say(refusal.reply_code, refusal.reply_text)
channel = connection.channel()
channel.basic_publish("", "allowed-q", b"as myself", pika.BasicProperties(user_id="worker"))
say("published as worker")
try:
    while True:
        connection.process_data_events(time_limit=30)
except pika.exceptions.ConnectionClosedByBroker as end:
    say(end.reply_code, end.reply_text)
