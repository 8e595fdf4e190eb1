package io.github.iree4j.tools;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/** The processor of the code in an ELF file, named as in the formats of executables, such as {@code embedded-elf-x86_64}. */
final class CpuCode {
    private static final ValueLayout.OfInt MAGIC = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfShort MACHINE =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int ELF = 0x7f454c46;
    private static final int CLASS_AT = 4;
    private static final int MACHINE_AT = 18;
    private static final int HEADER_BYTES = 52;

    private CpuCode() {}

    /** Returns the name; null for other constants of modules, such as code for GPUs. */
    static @Nullable String architectureOf(MemorySegment constant) {
        if (constant.byteSize() < HEADER_BYTES || constant.get(MAGIC, 0) != ELF) {
            return null;
        }
        boolean isWide = constant.get(ValueLayout.JAVA_BYTE, CLASS_AT) == 2;
        return switch (constant.get(MACHINE, MACHINE_AT)) {
            case 3 -> "x86_32";
            case 40 -> "arm_32";
            case 62 -> "x86_64";
            case 183 -> "arm_64";
            case 243 -> isWide ? "riscv_64" : "riscv_32";
            default -> null;
        };
    }

    /** Returns the name with a remark if the code is for another processor than this machine's. */
    static String described(String architecture) {
        String own = switch (System.getProperty("os.arch")) {
            case "amd64" -> "x86_64";
            case "aarch64" -> "arm_64";
            case String other -> other;
        };
        return architecture.equals(own) ? architecture : architecture + " (not this machine)";
    }
}
