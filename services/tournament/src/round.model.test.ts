import { describeModel } from './round.model.fixture.ts';

// round.model.long.test.ts plays more sequences.
describeModel(12);
