'use strict';
// Publisher confirms: every publish is confirmed, one that no queue takes as well.
const { connect, main, say } = require('./client');

main(async (queue) => {
  const connection = await connect();
  const channel = await connection.createConfirmChannel();
  await channel.assertQueue(queue, { durable: false });
  let confirmed = 0;
  const count = (error) => { if (!error) confirmed++; };
  for (let i = 0; i < 100; i++) channel.sendToQueue(queue, Buffer.from(String(i)), {}, count);
  channel.sendToQueue(`${queue}.nowhere`, Buffer.from('unroutable'), {}, count);
  await channel.waitForConfirms();
  say('confirmed', confirmed);
  say('ready', (await channel.checkQueue(queue)).messageCount);
  await connection.close();
});
