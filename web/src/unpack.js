// The result documents inside the page: base64 of a zlib stream of a JSON list. Relies on DecompressionStream.

export function bytesOf(base64) {
  const letters = atob(base64), bytes = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at++) bytes[at] = letters.charCodeAt(at);
  return bytes;
}

export async function unpack(text) {
  if (typeof DecompressionStream === 'undefined')
    throw new Error('This browser is too old to open the numbers inside the report. Any browser from mid 2023 on can.');
  const stream = new Blob([bytesOf(text.trim())]).stream().pipeThrough(new DecompressionStream('deflate'));
  return JSON.parse(await new Response(stream).text());
}
