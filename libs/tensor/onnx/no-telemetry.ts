// The library reports its use to its maker, and leaves files for that in the temporary folder, unless this is set before it is loaded. What runs here
// is nobody else's business. In a thread it counts only when the thread shares the environment of its process (`SHARE_ENV`).
process.env['ORT_DISABLE_TELEMETRY'] = '1';
