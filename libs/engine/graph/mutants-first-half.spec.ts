import { describeMutants } from './testing/mutants';

describeMutants(0);
