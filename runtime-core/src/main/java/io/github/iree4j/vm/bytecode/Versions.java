package io.github.iree4j.vm.bytecode;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.isa.Isa;

/** The supported bytecode versions, and the IREE releases writing these versions. */
final class Versions {
    private Versions() {}

    static Isa isaOf(int major, int minor) {
        Isa isa = Isa.find(major, minor);
        if (isa == null) {
            throw IreeException.of(
                    StatusCode.INCOMPATIBLE,
                    "it has bytecode %d.%d (%s) and this runtime runs %s to %s (IREE of March 2023 and later); compile it again with such a release"
                            .formatted(
                                    major,
                                    minor,
                                    releases(major),
                                    Isa.all().getFirst(),
                                    Isa.all().getLast()),
                    null,
                    new UnsupportedVersion(major, minor));
        }
        return isa;
    }

    /** From the history of {@code isa.h} and {@code BytecodeEncoder.h} in IREE's repository. */
    private static String releases(int major) {
        return major < Isa.all().getFirst().major() ? "IREE before March 2023" : "a release unknown to this runtime";
    }
}
