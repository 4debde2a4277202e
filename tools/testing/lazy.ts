/** Loads a neighbour and a library the way programs load what they need late. */
export async function loadLate(): Promise<{ project: string; root: string }> {
  const { Project } = await import('./project.js');
  const { programRoot } = await import('@cdui/host/entry.js');
  return { project: Project.name, root: programRoot() };
}
