export {
  checkPorts,
  inferModule,
  moduleIsRandom,
  moduleOrder,
  moduleParameters,
  moduleWeights,
  singleLayer,
  validateModule,
  type NamedWeight,
} from './modules';
export { inferLoss, normaliseLoss, type NormalLoss } from './losses';
export {
  normaliseOptimizer,
  optimizerEntries,
  type NormalAdam,
  type NormalOptimizer,
  type NormalSgd,
} from './optimizers';
