// A web frontend in small: asks what ComfyUI's does at its start, queues a prompt and shows its picture.
const said = document.getElementById('said');
const get = async path => (await fetch('/api' + path)).json();
try {
  await Promise.all(['/system_stats', '/users', '/settings', '/extensions', '/i18n', '/queue', '/history', '/userdata?dir=none', '/features'].map(p => fetch('/api' + p)));
  const info = await get('/object_info');
  if (!info.KSampler) throw new Error('no classes');
  const id = crypto.randomUUID ? crypto.randomUUID() : 'page';
  const ws = new WebSocket(`ws://${location.host}/api/ws?clientId=${id}`);
  ws.binaryType = 'arraybuffer';
  let pictures = 0, steps = 0;
  const done = new Promise((good, bad) => {
    ws.onerror = () => bad(new Error('no WebSocket'));
    ws.onmessage = m => {
      if (typeof m.data !== 'string') { pictures++; return; }
      const { type, data } = JSON.parse(m.data);
      if (type === 'progress') steps++;
      if (type === 'executed') good(data.output.images[0]);
      if (type === 'execution_error') bad(new Error(data.exception_message));
    };
  });
  await new Promise(open => { ws.onopen = open; });
  const prompt = await (await fetch('prompt.json')).json();
  const r = await fetch('/api/prompt', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ prompt, client_id: id }) });
  if (!r.ok) throw new Error(await r.text());
  const i = await done, img = new Image();
  img.src = '/api/view?' + new URLSearchParams(i);
  document.body.append(img);
  await img.decode();
  said.textContent = `picture ${img.naturalWidth}x${img.naturalHeight}, ${steps > 5 && pictures > 0 ? 'watched' : `only ${steps} steps, ${pictures} previews`}`;
} catch (e) {
  said.textContent = 'failed: ' + e.message;
}
