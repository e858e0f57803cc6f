export { type NodeRequest, type NodeResponse, toNodeListener } from './node-listener.ts';
export { createPlayerHandler, type PlayerApi, type PlayerHandlerOptions } from './player-handler.ts';
export type {
  PlayerAttempt,
  PlayerChallenge,
  PlayerLeaderboard,
  PlayerLeaderboardRow,
  PlayerRound,
} from './player-view.ts';
