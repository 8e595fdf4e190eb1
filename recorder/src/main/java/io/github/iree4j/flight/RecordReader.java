package io.github.iree4j.flight;

import io.github.iree4j.flight.FlightEvent.Point;
import io.github.iree4j.flight.FlightEvent.Reuse;
import io.github.iree4j.flight.FlightEvent.Workgroups;
import io.github.iree4j.flight.RecordedFrontier.Entry;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.hal.schedule.DispatchObserver.Outcome;
import io.github.iree4j.hal.schedule.WaitDecision;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.Known;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Decodes a record. Everything is checked: the words may be of a damaged file. */
final class RecordReader {
    private static final WaitDecision[] DECISIONS = WaitDecision.values();
    private static final Reuse[] REUSES = Reuse.values();
    private static final Outcome[] OUTCOMES = Outcome.values();

    // Bits of the word of the thread, of operations listed as open. The first two are without the time of submission.
    static final long OPENED_BEFORE = 1;
    static final long OPENED_AT_UNKNOWN_TIME = 2;
    static final long OPENED_WITH_WAITS = 4; // version 3 has neither this bit nor the bits of waits
    static final int OPENED_FIRST_WAIT = 3; // set for a reached wait; a bit for each wait, as far as bits go

    static final long TAKEN_BEFORE = 2; // the memory held as of the record with the next word's number

    static final long REFUSES = 1L << 8; // in the word of the status of an ended operation

    private final RecordWords records;
    private final RecordedNames names;
    private final int pools;
    private final boolean
            marksCalls; // whether open operations have marked calls: where a record is of version 6 or later
    private int record;
    private int next;
    private int end;

    RecordReader(RecordWords records, RecordedNames names, int pools) {
        this.records = records;
        this.names = names;
        this.pools = pools;
        this.marksCalls = IntStream.range(0, records.count())
                .anyMatch(each -> RecordType.type(records.word(each, 0)) >= RecordType.POOLS_HOLD);
    }

    /** Decodes the record with an index. @throws IreeException DATA_LOSS when the record is damaged */
    FlightEvent read(int index) {
        record = index;
        end = RecordType.words(records.word(index, 0));
        next = RecordType.HEADER;
        long sequence = records.word(index, 1);
        long time = records.word(index, 2);
        if (sequence < 0 || time < 0) {
            throw damaged("has sequence number " + sequence + " and time " + time);
        }
        int type = RecordType.type(records.word(index, 0));
        FlightEvent event = switch (type) {
            case RecordType.SUBMITTED -> submitted(sequence, time, true);
            case RecordType.OLD_SUBMITTED -> submitted(sequence, time, false);
            case RecordType.OPEN -> open(submitted(sequence, time, marksCalls));
            case RecordType.DECIDED -> new FlightEvent.Decided(sequence, time, number(), decisions());
            case RecordType.WAIT_OVER -> new FlightEvent.WaitOver(sequence, time, number(), number());
            case RecordType.HELD -> new FlightEvent.Held(sequence, time, number(), number());
            case RecordType.ISSUED -> new FlightEvent.Issued(sequence, time, number(), number(), frontier());
            case RecordType.BEGAN -> new FlightEvent.Began(sequence, time, number());
            case RecordType.COMPLETED -> new FlightEvent.Completed(sequence, time, number());
            case RecordType.OVER -> over(sequence, time);
            case RecordType.OLD_OVER ->
                new FlightEvent.Over(sequence, time, number(), status(), text(), frontier(), null);
            case RecordType.NAMED_OVER ->
                new FlightEvent.Over(sequence, time, number(), status(), name(), frontier(), null);
            case RecordType.RESERVED -> reserved(sequence, time);
            case RecordType.RELEASED -> new FlightEvent.Released(sequence, time, number(), frontier());
            case RecordType.IN_LINE ->
                new FlightEvent.InLine(sequence, time, pool(), number(), name(), number(), name());
            case RecordType.POOLS_HOLD -> poolsHold(sequence, time);
            case RecordType.RELEASED_UNSEEN -> new FlightEvent.ReleasedUnseen(sequence, time, pool(), number());
            case RecordType.CALL -> call(sequence, time, true);
            case RecordType.OLD_CALL -> call(sequence, time, false);
            case RecordType.MORE_OPEN -> new FlightEvent.MoreOpen(sequence, time, number(), number());
            case RecordType.MORE_POINTS -> new FlightEvent.MorePoints(sequence, time, number(), number(), number());
            case RecordType.TIMELINE -> new FlightEvent.NamedTimeline(sequence, time, number(), text());
            case RecordType.OLD_TIMELINE -> new FlightEvent.NamedTimeline(sequence, time, number(), name());
            case RecordType.DISPATCHES ->
                new FlightEvent.Dispatches(sequence, time, number(), isSet(), number(), dispatches());
            case RecordType.DISPATCHED -> dispatched(sequence, time);
            case RecordType.LOST -> new FlightEvent.Lost(sequence, time, axis(), status(), text());
            case RecordType.OLD_LOST -> new FlightEvent.Lost(sequence, time, axis(), status(), name());
            default -> throw damaged("has kind " + type + ", which this version does not know");
        };
        if (next != end) {
            throw damaged("has %d words and uses %d".formatted(end, next));
        }
        return event;
    }

    /** Reads a submission; a call below 0 began before the recording, where such calls are marked. */
    private FlightEvent.Submitted submitted(long sequence, long time, boolean isMarked) {
        long operation = number();
        long axis = axis();
        String name = name();
        long signed = word();
        if (signed < 0 && !isMarked || signed == Long.MIN_VALUE) {
            throw damaged("has a call of number " + signed);
        }
        Known callBefore = signed < 0 ? Known.YES : isMarked || signed == 0 ? Known.NO : Known.UNKNOWN;
        String function = name();
        long thread = word();
        int waits = fence();
        int signals = fence();
        return new FlightEvent.Submitted(
                sequence,
                time,
                operation,
                axis,
                name,
                Math.abs(signed),
                callBefore,
                function,
                thread,
                points(waits),
                points(signals));
    }

    private FlightEvent.Over over(long sequence, long time) {
        long operation = number();
        long word = word();
        StatusCode status = status(word & ~REFUSES);
        String message = text();
        RecordedFrontier frontier = frontier();
        List<FlightEvent.Refusal> refused = new ArrayList<>(0);
        for (int i = (word & REFUSES) == 0 ? 0 : count(3); i > 0; i--) {
            refused.add(new FlightEvent.Refusal(new Point(word(), word()), number()));
        }
        return new FlightEvent.Over(sequence, time, operation, status, message, frontier, refused);
    }

    private static FlightEvent.Open open(FlightEvent.Submitted words) {
        long state = words.thread();
        Known before = (state & OPENED_AT_UNKNOWN_TIME) != 0
                ? Known.UNKNOWN
                : (state & OPENED_BEFORE) != 0 ? Known.YES : Known.NO;
        List<Known> reached = new ArrayList<>();
        for (int bit = OPENED_FIRST_WAIT;
                bit < OPENED_FIRST_WAIT + words.waits().size();
                bit++) {
            reached.add(
                    (state & OPENED_WITH_WAITS) == 0 || bit >= Long.SIZE
                            ? Known.UNKNOWN
                            : (state >>> bit & 1) != 0 ? Known.YES : Known.NO);
        }
        FlightEvent.Submitted submission = new FlightEvent.Submitted(
                words.sequence(),
                words.time(),
                words.operation(),
                words.axis(),
                words.name(),
                words.call(),
                words.callBefore(),
                words.function(),
                0,
                words.waits(),
                words.signals());
        return new FlightEvent.Open(submission, before, reached);
    }

    private FlightEvent.Call call(long sequence, long time, boolean hasSignals) {
        long call = number();
        String program = name();
        String function = name();
        String state = name();
        long age = number();
        int waits = fence();
        int signals = hasSignals ? fence() : 0;
        return new FlightEvent.Call(
                sequence, time, call, program, function, state, age, points(waits), points(signals));
    }

    private List<FlightEvent.Dispatch> dispatches() {
        int count = count(DispatchSampling.WORDS);
        if (count > DispatchSampling.MAXIMUM) {
            throw damaged("lists %d dispatches, above the limit of %d".formatted(count, DispatchSampling.MAXIMUM));
        }
        List<FlightEvent.Dispatch> all = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            all.add(new FlightEvent.Dispatch(name(), new Workgroups(workgroups(-1), workgroups(-1), workgroups(-1))));
        }
        return List.copyOf(all);
    }

    private FlightEvent.Dispatched dispatched(long sequence, long time) {
        long operation = number();
        long index = number();
        long begin = number();
        long workers = number();
        long outcome = number();
        if (begin > time || outcome >= OUTCOMES.length) {
            throw damaged("has a dispatch from %d to %d with outcome %d".formatted(begin, time, outcome));
        }
        Workgroups workgroups = new Workgroups(workgroups(0), workgroups(0), workgroups(0));
        return new FlightEvent.Dispatched(
                sequence, time, operation, index, begin, workers, OUTCOMES[(int) outcome], workgroups);
    }

    private long workgroups(long least) {
        long count = word();
        if (count < least || count >>> Integer.SIZE != 0 && count != least) {
            throw damaged("has a dispatch of " + count + " workgroups in a dimension");
        }
        return count;
    }

    private boolean isSet() {
        long word = word();
        if (word >>> 1 != 0) {
            throw damaged("has " + word + " where 0 or 1 is due");
        }
        return word == 1;
    }

    private FlightEvent.Reserved reserved(long sequence, long time) {
        long reservation = number();
        int pool = pool();
        long size = number();
        long length = number();
        long offset = number();
        if (Math.max(1, length) > Long.MAX_VALUE - offset) {
            throw damaged("has memory of %d bytes at %d".formatted(length, offset));
        }
        int slab = (int) number();
        long reuse = number();
        if ((reuse & 0xFF) >= REUSES.length) {
            throw damaged("has reuse " + (reuse & 0xFF));
        }
        String consumer = name();
        long call = number();
        String function = name();
        RecordedFrontier death = frontier();
        return new FlightEvent.Reserved(
                sequence,
                time,
                reservation,
                pool,
                size,
                length,
                offset,
                slab,
                REUSES[(int) reuse & 0xFF],
                (reuse & 1 << 8) != 0,
                consumer,
                call,
                function,
                death,
                entries(count(2)));
    }

    private FlightEvent.PoolsHold poolsHold(long sequence, long time) {
        int set = (int) number();
        long when = number();
        if (when > TAKEN_BEFORE) {
            throw damaged("has memory of moment " + when);
        }
        long before = when == 0 ? sequence : when == TAKEN_BEFORE ? number() : FlightEvent.PoolsHold.UNKNOWN;
        long limit = number();
        int poolCount = count(2);
        int consumerCount = count(3);
        List<FlightEvent.PoolBytes> held = new ArrayList<>(poolCount);
        for (int i = 0; i < poolCount; i++) {
            held.add(new FlightEvent.PoolBytes(pool(), number()));
        }
        List<FlightEvent.ConsumerBytes> consumers = new ArrayList<>(consumerCount);
        for (int i = 0; i < consumerCount; i++) {
            consumers.add(new FlightEvent.ConsumerBytes(name(), number(), number()));
        }
        return new FlightEvent.PoolsHold(sequence, time, set, when != 0, before, limit, held, consumers);
    }

    private List<Point> points(int count) {
        List<Point> all = new ArrayList<>(Math.min(count, end));
        for (int i = 0; i < count; i++) {
            all.add(new Point(word(), word()));
        }
        return List.copyOf(all);
    }

    private List<FlightEvent.Decision> decisions() {
        int count = count(4);
        List<FlightEvent.Decision> all = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            long decision = number();
            if (decision >= DECISIONS.length) {
                throw damaged("has decision " + decision);
            }
            all.add(new FlightEvent.Decision(DECISIONS[(int) decision], word(), word(), number()));
        }
        return List.copyOf(all);
    }

    private RecordedFrontier frontier() {
        long word = word();
        if (word >>> 33 != 0) {
            throw damaged("has a frontier of " + (word & 0xFFFF_FFFFL) + " entries");
        }
        boolean tainted = word >>> 32 != 0;
        long producer = word();
        long count = word & 0xFFFF_FFFFL;
        if (count > (end - next) / 2) {
            throw damaged("has a frontier of " + count + " entries and not as many words");
        }
        if (count == 0 && producer == 0 && !tainted) {
            return RecordedFrontier.EMPTY;
        }
        return new RecordedFrontier(entries((int) count), producer, tainted);
    }

    private List<Entry> entries(int count) {
        List<Entry> all = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            all.add(new Entry(axis(), number()));
        }
        return all;
    }

    private StatusCode status() {
        return status(word());
    }

    private StatusCode status(long code) {
        if (code < 0 || code > 16) {
            throw damaged("has status " + code);
        }
        return StatusCode.of((int) code);
    }

    private String name() {
        long number = word();
        String name = names.get(number);
        if (name == null) {
            throw damaged("refers to name %d of %d".formatted(number, names.next()));
        }
        return name;
    }

    private String text() {
        long bytes = word();
        if (bytes < 0 || bytes > (long) (end - next) * Long.BYTES) {
            throw damaged("has a text of " + bytes + " bytes and not as many words");
        }
        return RecordText.read((int) bytes, this::word);
    }

    private int pool() {
        long number = word();
        if (number < 0 || number >= pools) {
            throw damaged("refers to pool %d of %d".formatted(number, pools));
        }
        return (int) number;
    }

    private long axis() {
        long axis = word();
        if (axis != 0 && !Axis.isValid(axis)) {
            throw damaged("has axis 0x%x, which is not one".formatted(axis));
        }
        return axis;
    }

    /** Returns a count of items with {@code each} words apiece, all contained in the record. */
    private int count(int each) {
        long count = word();
        if (count < 0 || count > (end - next) / each) {
            throw damaged("has a count of " + count + " and not as many words");
        }
        return (int) count;
    }

    /** Returns the number of points of a fence. */
    private int fence() {
        int count = count(2);
        if (count > RecordingObserver.MAXIMUM_POINTS) {
            throw damaged("has a fence of %d points, above the limit of %d"
                    .formatted(count, RecordingObserver.MAXIMUM_POINTS));
        }
        return count;
    }

    private long number() {
        long number = word();
        if (number < 0) {
            throw damaged("has " + number + " where a number from 0 is due");
        }
        return number;
    }

    private long word() {
        if (next >= end) {
            throw damaged("ends after " + end + " words, before it is complete");
        }
        return records.word(record, next++);
    }

    private IreeException damaged(String what) {
        return IreeException.of(StatusCode.DATA_LOSS, "record " + record + " of the recording " + what);
    }
}
