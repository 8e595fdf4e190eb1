package io.github.iree4j.frontier;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The wire form of frontiers, between machines. Stable: a change of meaning needs another version.
 *
 * <pre>
 * offset  bytes  field
 *      0      1  version, 1
 *      1      1  bit 0: tainted; other bits 0
 *      2      1  count of entries, 0 to 255
 *      3      1  producer: 1 + index of its entry, 0 when there is none
 *      4      4  0
 *      8    16n  entries, ascending by axis compared unsigned: axis, epoch, each 8 bytes
 * </pre>
 *
 * <p>Little-endian. 200 bytes for {@value Frontier#DEFAULT_CAPACITY} entries. Input is untrusted and validated.
 */
public final class FrontierCodec {
    /** The version written. */
    public static final int VERSION = 1;

    private static final int HEADER = 8;
    private static final int ENTRY = 16;
    private static final int TAINTED_FLAG = 1;

    private FrontierCodec() {}

    /**
     * Returns the encoded size of a frontier in bytes.
     *
     * @param frontier the frontier
     * @return 8 plus 16 per entry
     */
    public static int encodedSize(Frontier frontier) {
        return HEADER + ENTRY * frontier.size();
    }

    /**
     * Writes a frontier at the buffer's position and advances the position. The buffer may have any byte order, which
     * is kept.
     *
     * @param frontier the frontier
     * @param target the buffer
     * @throws IreeException OUT_OF_RANGE when the frontier does not fit; nothing is written in this case
     */
    public static void encode(Frontier frontier, ByteBuffer target) {
        int size = encodedSize(frontier);
        if (target.remaining() < size) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "frontier of " + size + " bytes does not fit the " + target.remaining() + " bytes that are left");
        }
        ByteBuffer out = target.slice().order(ByteOrder.LITTLE_ENDIAN);
        out.put((byte) VERSION);
        out.put((byte) (frontier.isTainted() ? TAINTED_FLAG : 0));
        out.put((byte) frontier.size());
        out.put((byte) (frontier.marks >>> Frontier.PRODUCER_SHIFT));
        out.putInt(0);
        for (int i = 0; i < frontier.size(); i++) {
            out.putLong(frontier.axis(i)).putLong(frontier.epoch(i));
        }
        target.position(target.position() + size);
    }

    /**
     * Reads a frontier at the buffer's position and advances the position. Reads and allocates about 4 KiB at most,
     * whatever the input.
     *
     * @param source the buffer; any byte order, which is kept
     * @return the frontier
     * @throws IreeException INCOMPATIBLE for another version; DATA_LOSS for any other invalid input, naming the error
     *     and place; the position does not change in this case
     */
    public static Frontier decode(ByteBuffer source) {
        ByteBuffer in = source.slice().order(ByteOrder.LITTLE_ENDIAN);
        if (in.remaining() < HEADER) {
            throw corrupt("a frontier begins with " + HEADER + " bytes, " + in.remaining() + " are left");
        }
        int version = in.get() & 0xFF;
        if (version != VERSION) {
            throw IreeException.of(
                    StatusCode.INCOMPATIBLE,
                    "frontier of version " + version + " cannot be read, only version " + VERSION
                            + "; run the same release on all machines");
        }
        int flags = in.get() & 0xFF;
        int count = in.get() & 0xFF;
        int producer = in.get() & 0xFF;
        int reserved = in.getInt();
        if (flags > TAINTED_FLAG || reserved != 0) {
            throw corrupt(
                    "frontier has unknown flags " + flags + " or reserved bytes " + Integer.toHexString(reserved));
        }
        if (producer > count) {
            throw corrupt("producer of frontier is entry " + (producer - 1) + " of " + count);
        }
        if (in.remaining() < count * ENTRY) {
            throw corrupt("frontier of " + count + " entries takes " + count * ENTRY + " bytes, " + in.remaining()
                    + " are left");
        }
        long[] axes = new long[count];
        long[] epochs = new long[count];
        for (int i = 0; i < count; i++) {
            axes[i] = in.getLong();
            epochs[i] = in.getLong();
            if (!Axis.isValid(axes[i])) {
                throw corrupt("entry " + i + " of frontier: 0x" + Long.toHexString(axes[i]) + " is not an axis");
            }
            if (epochs[i] <= 0) {
                throw corrupt("entry " + i + " of frontier: epoch " + epochs[i] + " is not above 0");
            }
            if (i > 0 && Axis.compare(axes[i - 1], axes[i]) >= 0) {
                throw corrupt("entry " + i + " of frontier: axis '" + Axis.toString(axes[i]) + "' is not above '"
                        + Axis.toString(axes[i - 1]) + "'");
            }
        }
        source.position(source.position() + encodedSize(count));
        return Frontier.ofSorted(
                axes, epochs, producer << Frontier.PRODUCER_SHIFT | (flags & TAINTED_FLAG) * Frontier.TAINTED);
    }

    private static int encodedSize(int count) {
        return HEADER + ENTRY * count;
    }

    private static IreeException corrupt(String what) {
        return IreeException.of(StatusCode.DATA_LOSS, what);
    }
}
