package io.github.iree4j.modules.parameters;

import java.util.Arrays;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Element types of GGUF files (numbers from {@code ggml.h}, blocks from {@code ggml-common.h}). The format does not
 * contain the sizes of types, so each size has to be known. Missing numbers were withdrawn.
 */
enum GgmlType {
    F32(0, 1, 4),
    F16(1, 1, 2),
    Q4_0(2, 32, 18),
    Q4_1(3, 32, 20),
    Q5_0(6, 32, 22),
    Q5_1(7, 32, 24),
    Q8_0(8, 32, 34),
    Q8_1(9, 32, 36),
    Q2_K(10, 256, 84),
    Q3_K(11, 256, 110),
    Q4_K(12, 256, 144),
    Q5_K(13, 256, 176),
    Q6_K(14, 256, 210),
    Q8_K(15, 256, 292),
    IQ2_XXS(16, 256, 66),
    IQ2_XS(17, 256, 74),
    IQ3_XXS(18, 256, 98),
    IQ1_S(19, 256, 50),
    IQ4_NL(20, 32, 18),
    IQ3_S(21, 256, 110),
    IQ2_S(22, 256, 82),
    IQ4_XS(23, 256, 136),
    I8(24, 1, 1),
    I16(25, 1, 2),
    I32(26, 1, 4),
    I64(27, 1, 8),
    F64(28, 1, 8),
    IQ1_M(29, 256, 56),
    BF16(30, 1, 2),
    TQ1_0(34, 256, 54),
    TQ2_0(35, 256, 66),
    MXFP4(39, 32, 17),
    NVFP4(40, 64, 36);

    private static final GgmlType[] BY_NUMBER = new GgmlType[NVFP4.number + 1];

    static {
        for (GgmlType type : values()) {
            BY_NUMBER[type.number] = type;
        }
    }

    private final int number;
    private final int blockElements;
    private final int blockBytes;

    GgmlType(int number, int blockElements, int blockBytes) {
        this.number = number;
        this.blockElements = blockElements;
        this.blockBytes = blockBytes;
    }

    static @Nullable GgmlType of(int number) {
        return number >= 0 && number < BY_NUMBER.length ? BY_NUMBER[number] : null;
    }

    static String known() {
        return Arrays.stream(values()).map(Enum::name).collect(Collectors.joining(", "));
    }

    int blockElements() {
        return blockElements;
    }

    int blockBytes() {
        return blockBytes;
    }
}
