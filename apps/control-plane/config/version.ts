export { programVersion as version } from '@cdui/host/program-version';
