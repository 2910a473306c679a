// The result documents inside the page: base64 of a zlib stream of a JSON list. Relies on DecompressionStream.

export async function unpack(text) {
  if (typeof DecompressionStream === 'undefined')
    throw new Error('This browser is too old to open the numbers inside the report. Any browser from mid 2023 on can.');
  const packed = Uint8Array.from(atob(text.trim()), letter => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
  return JSON.parse(await new Response(stream).text());
}
