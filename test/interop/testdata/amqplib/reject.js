'use strict';
// nack and reject, with and without requeue. What is requeued comes back at the head, redelivered.
const { connect, main, say } = require('./client');

main(async (queue) => {
  const connection = await connect();
  const channel = await connection.createChannel();
  await channel.assertQueue(queue, { durable: false });
  for (const body of 'abcd') channel.sendToQueue(queue, Buffer.from(body));
  const get = async () => {
    const message = await channel.get(queue);
    say(message.content.toString(), message.fields.redelivered ? 'redelivered' : 'new', message.fields.messageCount);
    return message;
  };
  channel.nack(await get(), false, true);
  channel.reject(await get(), true);
  channel.reject(await get(), false);
  await get();
  channel.nack(await get(), true, true);
  await get();
  channel.nack(await get(), true, false);
  await get();
  channel.nackAll(true);
  await get();
  await connection.close();
});
