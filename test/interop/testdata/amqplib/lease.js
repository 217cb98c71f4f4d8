'use strict';
// A job that takes longer than the queue's timeout, with more time asked for meanwhile, and one without.
const { setTimeout: work } = require('timers/promises');
const { connect, main, say } = require('./client');

main(async (queue, milliseconds) => {
  const timeout = Number(milliseconds);
  const connection = await connect();
  const channel = await connection.createChannel();
  await channel.assertQueue(queue, { durable: false, arguments: { 'x-consumer-timeout': timeout } });
  let arrived;
  await channel.consume(queue, (message) => {
    if (message) arrived(message);
    else say('cancelled worker');
  }, { consumerTag: 'worker' });
  const job = (name) => new Promise((resolve) => {
    arrived = resolve;
    channel.sendToQueue(queue, Buffer.from(name));
  });
  const lease = (message, headers = {}) => channel.publish('', `leveret.lease.${message.fields.deliveryTag}`, Buffer.alloc(0), { headers });

  const extended = await job('extended');
  for (let i = 0; i < 6; i++) {
    await work(timeout / 4);
    lease(extended);
  }
  lease(extended, { 'x-lease': 2 * timeout });
  await work(1.5 * timeout);
  channel.ack(extended);
  say('done', extended.fields.redelivered ? 1 : 0);

  const forgotten = await job('forgotten');
  await work(1.5 * timeout);
  channel.ack(forgotten); // too late, and no error
  const message = await channel.get(queue, { noAck: true });
  say(message.content.toString(), message.fields.redelivered ? 1 : 0);
  await connection.close();
});
