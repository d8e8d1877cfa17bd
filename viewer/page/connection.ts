/** The conversation with the server: one question at a time, of each kind only the newest. */
import type {Answer} from './types';

export type Message = {do: string} & Record<string, unknown>;

export class Connection {
  private socket: WebSocket | null = null;
  private waiting = new Map<string, Message>();
  private inFlight: number | null = null;
  private next = 1;
  round = 0;  // last question and answer [ms]
  private asked = 0;

  constructor(private readonly url: string, private readonly onAnswer: (answer: Answer) => void,
      private readonly onState: (connected: boolean) => void,
      private readonly greetings: () => Message[]) {
    this.open();
  }

  /** @param key  a question of the same key that still waits is replaced */
  ask(message: Message, key = message.do) {
    if (!this.connected) return;
    this.waiting.delete(key);
    this.waiting.set(key, message);
    this.flush();
  }
  /** Says something that has no answer. */
  tell(message: Message) {
    if (this.connected) this.socket!.send(JSON.stringify(message));
  }
  get connected() { return this.socket?.readyState === WebSocket.OPEN; }
  get idle() { return this.inFlight === null && this.waiting.size === 0; }

  private open() {
    const socket = new WebSocket(this.url);
    this.socket = socket;
    socket.onopen = () => {
      this.inFlight = null;
      this.waiting.clear();
      for (const [i, message] of this.greetings().entries()) this.waiting.set(`greeting ${i}`, message);
      this.onState(true);
      this.flush();
    };
    socket.onmessage = (event) => {
      const answer = JSON.parse(event.data) as Answer;
      if (answer.id !== undefined && answer.id === this.inFlight) {
        this.inFlight = null;
        this.round = performance.now() - this.asked;
      }
      this.onAnswer(answer);
      this.flush();
    };
    socket.onclose = () => {
      this.onState(false);
      setTimeout(() => this.open(), 700);
    };
  }
  private flush() {
    if (!this.connected || this.inFlight !== null) return;
    const first = this.waiting.entries().next();
    if (first.done) return;
    const [key, message] = first.value;
    this.waiting.delete(key);
    this.inFlight = this.next++;
    this.asked = performance.now();
    this.socket!.send(JSON.stringify({...message, id: this.inFlight}));
  }
}
