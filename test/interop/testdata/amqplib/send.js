'use strict';
// Tutorial 1, hello: sends one message with properties and headers.
const { connect, main } = require('./client');

main(async (queue) => {
  const connection = await connect();
  const channel = await connection.createChannel();
  await channel.assertQueue(queue, { durable: false });
  channel.sendToQueue(queue, Buffer.from('Hello World!'), {
    contentType: 'text/plain', deliveryMode: 2, priority: 3, correlationId: 'c-1', messageId: 'm-1', timestamp: 1700000000, type: 'greeting',
    headers: { count: 3, big: 5000000000, flag: true, none: null, text: 'grüß', nested: { list: [1, 'two', false] } },
  });
  await channel.close(); // closing only the connection would drop what the channel has not written yet
  await connection.close();
});
