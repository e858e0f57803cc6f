/**
 * A delivery on its way to the checker. It is in memory alone, so that no address and no history
 * has its body.
 */
export interface HandedOver {
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly body: string;
}

let waiting: HandedOver | undefined;

export function handOver(delivery: HandedOver): void {
  waiting = delivery;
}

/** Returns what was handed over, once: a later visit begins empty. */
export function takeHandedOver(): HandedOver | undefined {
  const taken = waiting;
  waiting = undefined;
  return taken;
}
