// A player in JavaScript: remembers what each table was told, and plays the move whose words are the shortest.
//
//     cardai match moska --seats 'process:node examples/agents/player.js,bot3,bot3,bot3'

const lines = require("readline").createInterface({ input: process.stdin });
const tables = new Map(); // table -> the moves of others that this seat was told

const answers = {
  hello: () => ({ cardai: 1, name: "shortest", wants: ["told", "moves"] }),
  begin: (message) => void tables.set(message.table, []),
  end: (message) => void tables.delete(message.table),
  move: (message) => {
    const told = tables.get(message.table);
    if (told) told.push(...message.told); // [{seat: 1, text: "..."}]
    const lengths = message.moves.map((words) => words.length);
    return { move: lengths.indexOf(Math.min(...lengths)) };
  },
};

lines.on("line", (line) => {
  const message = JSON.parse(line);
  const answer = answers[message.type]?.(message);
  if (answer) process.stdout.write(JSON.stringify({ id: message.id, ...answer }) + "\n");
});
