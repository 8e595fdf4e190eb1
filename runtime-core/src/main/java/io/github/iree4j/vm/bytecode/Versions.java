package io.github.iree4j.vm.bytecode;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.isa.Isa;

/** Which bytecode versions there are tables for, and which IREE releases write which. */
final class Versions {
    private Versions() {}

    static Isa isaOf(int major, int minor) {
        Isa isa = Isa.find(major, minor);
        if (isa == null) {
            throw new IreeException(
                    StatusCode.INCOMPATIBLE,
                    "it has bytecode %d.%d (%s) and this runtime runs %s (%s); compile it again with such a release"
                            .formatted(major, minor, releases(major), Isa.V17_0, releases(Isa.V17_0.major())),
                    null,
                    new UnsupportedVersion(major, minor));
        }
        return isa;
    }

    /** From the history of {@code isa.h} and {@code BytecodeEncoder.h} against IREE's release tags. */
    private static String releases(int major) {
        return switch (major) {
            case 15 -> "IREE of March 2023 to 3.9";
            case 16 -> "IREE 3.10";
            case 17 -> "IREE 3.11 and later";
            default -> major < 15 ? "IREE before March 2023" : "a release this runtime does not know";
        };
    }
}
