package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;

/**
 * The operation of a collective command, packed as programs pass the operation ({@code iree/hal/command_buffer.h}).
 *
 * @param packed kind in bits 0 to 7, reduction in 8 to 15, element type in 16 to 23
 */
@NotForApplications
public record Collective(int packed) {
    /** As a kind: every participant gets the elements of all participants, concatenated by rank. */
    public static final int ALL_GATHER = 0;
    /** As a kind: every participant gets the elements of all participants, reduced. */
    public static final int ALL_REDUCE = 1;
    /** As a kind: participant i gets the i-th part of the elements of all participants, concatenated by rank. */
    public static final int ALL_TO_ALL = 2;
    /** As a kind: every other participant gets the elements of the root. */
    public static final int BROADCAST = 3;
    /** As a kind: the root gets the elements of all participants, reduced. */
    public static final int REDUCE = 4;
    /** As a kind: participant i gets the i-th part of the elements of all participants, reduced. */
    public static final int REDUCE_SCATTER = 5;
    /** As a kind: sends to a participant with a matching receive. */
    public static final int SEND = 6;
    /** As a kind: receives from a participant with a matching send. */
    public static final int RECV = 7;
    /** As a kind: sends to a participant and receives from a participant. */
    public static final int SEND_RECV = 8;

    /** As a reduction: none. */
    public static final int NONE = 0;
    /** As a reduction: the sum; integers wrap around. */
    public static final int SUM = 1;
    /** As a reduction: the product; integers wrap around. */
    public static final int PRODUCT = 2;
    /** As a reduction: the minimum; NaN if an element is NaN. */
    public static final int MINIMUM = 3;
    /** As a reduction: the maximum; NaN if an element is NaN. */
    public static final int MAXIMUM = 4;
    /** As a reduction: the sum divided by the count; towards zero for integers, summed in 64 bits. */
    public static final int AVERAGE = 5;

    /** As an element type, like the following. */
    public static final int S8 = 0;
    /** Unsigned, 8 bits. */
    public static final int U8 = 1;
    /** Signed, 16 bits. */
    public static final int S16 = 2;
    /** Unsigned, 16 bits. */
    public static final int U16 = 3;
    /** Signed, 32 bits. */
    public static final int S32 = 4;
    /** Unsigned, 32 bits. */
    public static final int U32 = 5;
    /** Signed, 64 bits. */
    public static final int S64 = 6;
    /** Unsigned, 64 bits. */
    public static final int U64 = 7;
    /** IEEE half. */
    public static final int F16 = 8;
    /** IEEE single. */
    public static final int F32 = 9;
    /** IEEE double. */
    public static final int F64 = 10;
    /** The upper half of a single. */
    public static final int BF16 = 11;

    private static final long SIZES = 0x2842_8844_2211L; // bytes per type, four bits each, lowest first

    /**
     * Packs an operation.
     *
     * @param kind for example {@link #ALL_REDUCE}
     * @param reduction for example {@link #SUM}
     * @param elementType for example {@link #F32}
     * @return the operation; checked when recorded
     */
    public static Collective of(int kind, int reduction, int elementType) {
        return new Collective(kind & 0xFF | (reduction & 0xFF) << 8 | (elementType & 0xFF) << 16);
    }

    /**
     * Packs the parameter of {@link #SEND_RECV}.
     *
     * @param target the rank to send to, -1 to send nothing
     * @param source the rank to receive from, -1 to get zeros
     * @return the parameter
     */
    public static int peers(int target, int source) {
        return target & 0xFFFF | source << 16;
    }

    /**
     * Returns the kind: 0 all-gather, 1 all-reduce, 2 all-to-all, 3 broadcast, 4 reduce, 5 reduce-scatter, 6 send, 7
     * receive, 8 send-receive.
     *
     * @return the kind
     */
    public int kind() {
        return packed & 0xFF;
    }

    /**
     * Returns the reduction: 0 none, 1 sum, 2 product, 3 minimum, 4 maximum, 5 average.
     *
     * @return the reduction
     */
    public int reduction() {
        return packed >>> 8 & 0xFF;
    }

    /**
     * Returns the element type: s8, u8, s16, u16, s32, u32, s64, u64, f16, f32, f64, bf16 from 0 on.
     *
     * @return the element type
     */
    public int elementType() {
        return packed >>> 16 & 0xFF;
    }

    /**
     * Returns the size of an element.
     *
     * @return 1, 2, 4 or 8 bytes; 0 when the type is unknown
     */
    public int elementSize() {
        return elementType() > BF16 ? 0 : (int) (SIZES >>> elementType() * 4 & 0xF);
    }

    /** Names the kind in messages. */
    String name() {
        return switch (kind()) {
            case ALL_GATHER -> "all_gather";
            case ALL_REDUCE -> "all_reduce";
            case ALL_TO_ALL -> "all_to_all";
            case BROADCAST -> "broadcast";
            case REDUCE -> "reduce";
            case REDUCE_SCATTER -> "reduce_scatter";
            case SEND -> "send";
            case RECV -> "recv";
            case SEND_RECV -> "send_recv";
            default -> "collective " + kind();
        };
    }

    @Override
    public String toString() {
        return "%s of reduction %d and element type %d".formatted(name(), reduction(), elementType());
    }
}
