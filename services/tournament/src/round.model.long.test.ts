import { describeModel } from './round.model.fixture.ts';

describeModel(60);
