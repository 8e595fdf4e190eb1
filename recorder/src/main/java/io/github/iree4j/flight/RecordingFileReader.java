package io.github.iree4j.flight;

import io.github.iree4j.flight.FlightRecording.Header;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/** Reads the file of a recording; the file may be truncated, damaged or hostile. */
final class RecordingFileReader {
    private static final long UNKNOWN = -1; // time of a file without the time of the end
    private static final long NAME_BYTES = 64; // of a name in memory, besides its characters

    private final String name;
    private final FileChannel file;
    private final long size;
    private final boolean partly;
    private final RecordedNames names = new RecordedNames(0);
    private final List<RecordedQueue> queues = new ArrayList<>();
    private final List<RecordedPool> pools = new ArrayList<>();
    private final RecordWords records = new RecordWords();
    private long bytes; // of records and names
    private @Nullable Header header;
    private boolean ended;
    private String damage = ""; // of a file without an end

    RecordingFileReader(String name, FileChannel file, boolean partly) throws IOException {
        this.name = name;
        this.file = file;
        this.size = file.size();
        this.partly = partly;
    }

    FlightRecording read() throws IOException {
        ByteBuffer first = bytes(0, RecordingFile.HEADER_BYTES);
        byte[] magic = new byte[RecordingFile.MAGIC.length];
        first.get(magic);
        if (!Arrays.equals(magic, RecordingFile.MAGIC)) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT, "'%s' is not a recording: it begins otherwise".formatted(name));
        }
        int version = first.getInt();
        if (version < RecordingFile.OLDEST_VERSION || version > RecordingFile.VERSION) {
            throw IreeException.of(
                    StatusCode.UNIMPLEMENTED,
                    "recording '%s' has version %d; this release reads versions %d to %d"
                            .formatted(
                                    name,
                                    Integer.toUnsignedLong(version),
                                    RecordingFile.OLDEST_VERSION,
                                    RecordingFile.VERSION));
        }
        int reserved = first.getInt();
        if (reserved != 0) {
            throw damaged(RecordingFile.HEADER_BYTES - Integer.BYTES, "has a reserved word");
        }
        try {
            long position = RecordingFile.HEADER_BYTES;
            while (!ended) {
                position = chunk(position);
            }
            if (position != size) {
                throw damaged(position, "goes on after its end");
            }
        } catch (IreeException e) {
            if (!partly || e.code() != StatusCode.DATA_LOSS) {
                throw e;
            }
        }
        Header known = header;
        if (known == null) {
            throw damaged(RecordingFile.HEADER_BYTES, "has no beginning");
        }
        RecordWords sorted = records.sorted();
        if (!ended) {
            known = header(known, sorted);
        }
        if (known.taken() == UNKNOWN) {
            known = taken(known, last(sorted));
        }
        return new FlightRecording(
                known,
                names,
                List.copyOf(queues),
                List.copyOf(pools),
                sorted,
                ended ? "" : "%s, so only the %d records before the damage are read".formatted(damage, sorted.count()));
    }

    private IreeException damaged(long position, String what) {
        damage = "recording '%s' %s at byte %d of %d".formatted(name, what, position, size);
        return IreeException.of(StatusCode.DATA_LOSS, damage + "; read what is before that with --salvage");
    }

    private static Header taken(Header known, long taken) {
        return new Header(
                known.start(), known.frontierCapacity(), known.next(), known.completeFrom(), known.dropped(), taken);
    }

    /** Returns the time of the last record. */
    private static long last(RecordWords records) {
        long last = 0;
        for (int i = 0; i < records.count(); i++) {
            last = Math.max(last, records.word(i, 2));
        }
        return last;
    }

    /** Returns the header of a file without an end, as far as the numbers of the records show: the last records are missing. */
    private static Header header(Header known, RecordWords sorted) {
        long next = 0;
        long completeFrom = 0;
        long missing = 0;
        Set<Long> ends = ends(sorted);
        for (int i = 0; i < sorted.count(); i++) {
            long number = sorted.word(i, 1);
            if (!RecordType.isOfEnd(sorted, i) && !(isName(sorted, i) && ends.contains(number))) {
                completeFrom = number > next ? number : completeFrom;
                missing += Math.max(0, number - next);
                next = Math.max(next, number + 1);
            }
        }
        return new Header(known.start(), known.frontierCapacity(), next, completeFrom, missing + 1, UNKNOWN);
    }

    /**
     * Returns the numbers of the records of open work and held memory when a recording is taken: not numbered among the
     * others.
     */
    private static Set<Long> ends(RecordWords records) {
        return IntStream.range(0, records.count())
                .filter(each -> RecordType.isOfEnd(records, each))
                .mapToObj(each -> records.word(each, 1))
                .collect(Collectors.toSet());
    }

    /** Returns whether a record names a timeline: of a submission, or of open work. */
    private static boolean isName(RecordWords records, int index) {
        int type = RecordType.type(records.word(index, 0));
        return type == RecordType.TIMELINE || type == RecordType.OLD_TIMELINE;
    }

    private ByteBuffer bytes(long position, int length) throws IOException {
        if (length > size - position) {
            throw damaged(position, "ends: %d bytes are missing".formatted(length - (size - position)));
        }
        ByteBuffer all = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        while (all.hasRemaining()) {
            if (file.read(all, position + all.position()) < 0) {
                throw damaged(position, "was truncated while it was read");
            }
        }
        return all.flip();
    }

    /** Reads a chunk; returns the position of the next chunk. */
    private long chunk(long position) throws IOException {
        ByteBuffer head = bytes(position, RecordingFile.CHUNK_HEADER_BYTES);
        int kind = head.getInt();
        int length = head.getInt();
        int expected = head.getInt();
        if (length < 0 || length > RecordingFile.MAXIMUM_CHUNK) {
            throw damaged(
                    position,
                    "has a chunk of %d bytes, above the limit of %d,"
                            .formatted(Integer.toUnsignedLong(length), RecordingFile.MAXIMUM_CHUNK));
        }
        long start = position + RecordingFile.CHUNK_HEADER_BYTES;
        ByteBuffer payload = bytes(start, length);
        CRC32C checksum = new CRC32C();
        checksum.update(payload.duplicate());
        if ((int) checksum.getValue() != expected) {
            throw damaged(position, "has a chunk with another checksum than it says");
        }
        try {
            read(kind, payload);
        } catch (java.nio.BufferUnderflowException e) {
            throw damaged(start + payload.position(), "has a chunk that ends too early");
        } catch (Malformed e) {
            throw damaged(start + payload.position(), e.getMessage());
        }
        return start + length;
    }

    /** The defect of a chunk. */
    private static final class Malformed extends RuntimeException {
        private static final long serialVersionUID = 1;

        Malformed(String what) {
            super(what, null, false, false);
        }

        @Override
        public String getMessage() {
            return String.valueOf(super.getMessage());
        }
    }

    private void read(int kind, ByteBuffer payload) {
        switch (kind) {
            case RecordingFile.INFO -> info(payload);
            case RecordingFile.NAMES -> names(payload);
            case RecordingFile.QUEUES -> queues(payload);
            case RecordingFile.POOLS -> pools(payload);
            case RecordingFile.RECORDS -> records(payload);
            case RecordingFile.END -> end(payload);
            default -> throw new Malformed("has a chunk of kind " + kind + ", which this version does not know,");
        }
        if (payload.hasRemaining()) {
            throw new Malformed("has a chunk of kind " + kind + " that is too long");
        }
    }

    private void info(ByteBuffer payload) {
        Instant start = RecordingFile.start(payload);
        int capacity = payload.getInt();
        if (capacity < 1 || capacity > Frontier.MAXIMUM_CAPACITY) {
            throw new Malformed("has frontiers of up to " + capacity + " entries");
        }
        header = new Header(start, capacity, 0, 0, 0, UNKNOWN);
    }

    private static int count(ByteBuffer payload, int known, int limit, String what) {
        int count = payload.getInt();
        if (count < 0 || count > limit - known) {
            throw new Malformed("has %d more %s after %d, above the limit of %d,"
                    .formatted(Integer.toUnsignedLong(count), what, known, limit));
        }
        return count;
    }

    private void names(ByteBuffer payload) {
        int first = payload.getInt();
        int count = payload.getInt();
        if (first < names.next() || count < 0 || count > Integer.MAX_VALUE - first) {
            throw new Malformed("has " + count + " names from " + first + " on after " + names.next());
        }
        List<String> run = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            String name = string(payload);
            count(NAME_BYTES + name.length());
            run.add(name);
        }
        names.add(first, run);
    }

    /** Counts bytes of records and names in memory. */
    private void count(long more) {
        bytes += more;
        if (bytes > RecordingFile.limit()) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "recording '%s' has more than %d bytes of records and names, the limit with this heap; give Java more memory (-Xmx)"
                            .formatted(name, RecordingFile.limit()));
        }
    }

    private static String string(ByteBuffer payload) {
        int length = Short.toUnsignedInt(payload.getShort());
        if (length > payload.remaining()) {
            throw new Malformed("has a name of " + length + " bytes that is cut off");
        }
        byte[] bytes = new byte[length];
        payload.get(bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private void queues(ByteBuffer payload) {
        int count = count(payload, queues.size(), Definitions.MAXIMUM_QUEUES, "queues");
        for (int i = 0; i < count; i++) {
            long axis = payload.getLong();
            int index = payload.getInt();
            boolean stream = payload.get() != 0;
            long limit = payload.getLong();
            if (!Axis.isValid(axis) || index < 0 || index > Definitions.MAXIMUM_QUEUES || limit < 0) {
                throw new Malformed(
                        "has a queue %d with axis 0x%x and a limit of %d bytes".formatted(index, axis, limit));
            }
            queues.add(new RecordedQueue(axis, string(payload), index, stream, limit));
        }
    }

    private void pools(ByteBuffer payload) {
        int count = count(payload, pools.size(), Definitions.MAXIMUM_POOLS, "pools");
        for (int i = 0; i < count; i++) {
            int set = payload.getInt();
            pools.add(new RecordedPool(set, string(payload)));
        }
    }

    private void records(ByteBuffer payload) {
        if (payload.remaining() % Long.BYTES != 0) {
            throw new Malformed("has records of " + payload.remaining() + " bytes, not a multiple of 8,");
        }
        count(payload.remaining());
        while (payload.hasRemaining()) {
            long first = payload.getLong(payload.position());
            int words = RecordType.words(first);
            if (words < RecordType.HEADER || words > payload.remaining() / Long.BYTES) {
                throw new Malformed("has a record of " + words + " words");
            }
            records.begin(words);
            for (int i = 0; i < words; i++) {
                records.put(payload.getLong());
            }
        }
    }

    private void end(ByteBuffer payload) {
        Header known = header;
        long next = payload.getLong();
        long completeFrom = payload.getLong();
        long dropped = payload.getLong();
        long taken = payload.hasRemaining() ? payload.getLong() : UNKNOWN;
        if (known == null || next < 0 || completeFrom < 0 || dropped < 0 || taken < UNKNOWN) {
            throw new Malformed("has an end with next %d, complete from %d, %d dropped and taken at %d"
                    .formatted(next, completeFrom, dropped, taken));
        }
        header = new Header(known.start(), known.frontierCapacity(), next, completeFrom, dropped, taken);
        ended = true;
    }
}
