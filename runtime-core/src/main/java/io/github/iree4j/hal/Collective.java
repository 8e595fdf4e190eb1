package io.github.iree4j.hal;

/**
 * What a collective command does, packed as programs pass it ({@code iree/hal/command_buffer.h}).
 *
 * @param packed kind in bits 0 to 7, reduction in 8 to 15, element type in 16 to 23
 */
public record Collective(int packed) {

    /**
     * Returns the kind: 0 all-gather, 1 all-reduce, 2 all-to-all, 3 broadcast, 4 reduce, 5 reduce-scatter, 6 send, 7 receive,
     * 8 send-receive.
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
}
