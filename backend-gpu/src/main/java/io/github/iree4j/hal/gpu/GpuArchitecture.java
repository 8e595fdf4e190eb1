package io.github.iree4j.hal.gpu;

import java.util.HashMap;
import java.util.Map;

/** Names of the devices targeted by ELF files, from the flags in the header. */
final class GpuArchitecture {
    private static final int CUDA_ABI_8 = 8;
    private static final int CUDA_ALONE = 0x800;
    private static final int AMD_ABI_4 = 2; // the first version whose flags have three states

    /** By number, in the order of LLVM's table of AMD's processors; numbers missing there are missing here. */
    private static final Map<Integer, String> AMD = amdProcessors();

    private GpuArchitecture() {}

    /** Returns the architecture of a cubin. CUDA 13 moved the number, and no longer records whether the code is for this architecture alone. */
    static String cuda(int abi, int flags) {
        return abi >= CUDA_ABI_8
                ? "sm_" + (flags >>> 8 & 0xFF)
                : "sm_" + (flags & 0xFF) + ((flags & CUDA_ALONE) != 0 ? "a" : "");
    }

    /** Returns the architecture of a code object, with the features required to be on or off. */
    static String amd(int abi, int flags) {
        int number = flags & 0xFF;
        String name = AMD.getOrDefault(number, "AMD processor 0x%02x".formatted(number));
        return abi < AMD_ABI_4 ? name : name + feature("sramecc", flags >>> 10) + feature("xnack", flags >>> 8);
    }

    private static String feature(String name, int state) {
        return switch (state & 3) {
            case 2 -> ":" + name + "-";
            case 3 -> ":" + name + "+";
            default -> "";
        };
    }

    private static Map<Integer, String> amdProcessors() {
        Map<Integer, String> names = new HashMap<>();
        put(names, 0x20, "600 601 700 701 702 703 704 - 801 802 803 810 900 902 904 906 908 909 90c");
        put(names, 0x33, "1010 1011 1012 1030 1031 1032 1033 602 705 805 1035 1034 90a 940 1100 1013 1150 1103");
        put(names, 0x45, "1036 1101 1102 1200 1250 1151 941 942 - 1201 950 - 9-generic 10-1-generic 10-3-generic");
        put(names, 0x54, "11-generic 1152 - - 1153 12-generic - - - - - 9-4-generic");
        return Map.copyOf(names);
    }

    private static void put(Map<Integer, String> names, int first, String listed) {
        int number = first;
        for (String name : listed.split(" ")) {
            if (!name.equals("-")) {
                names.put(number, "gfx" + name);
            }
            number++;
        }
    }
}
