package io.github.iree4j.spirv;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;

/**
 * A structurally valid module of compute shaders. Immutable.
 *
 * @param version as in the header: major in bits 16 to 23, minor in bits 8 to 15
 * @param capabilities numbers of {@code OpCapability}
 * @param extensions names of {@code OpExtension}
 * @param entryPoints the entry points of execution model GLCompute
 * @param writtenAddresses possibly written slots for code with addresses: bit n is the bit of slot n of the table; all
 *     bits are set when unknown
 */
public record SpirvModule(
        int version,
        Set<Integer> capabilities,
        Set<String> extensions,
        List<SpirvEntryPoint> entryPoints,
        long writtenAddresses) {

    /** Copies. */
    public SpirvModule {
        capabilities = Set.copyOf(capabilities);
        extensions = Set.copyOf(extensions);
        entryPoints = List.copyOf(entryPoints);
    }

    /**
     * Reads a module. Checks size, magic, version and identifier bound of the header; every instruction to lie within
     * the module, and the identifiers relevant here within the bound; declarations to come before functions, and
     * functions to be complete; and the declarations of entry points.
     *
     * @param words the module, little-endian, at any alignment
     * @param constants values of the specialisation constants with identifiers 0, 1, and so on; other constants have
     *     the module's value
     * @return the module
     * @throws IreeException INVALID_ARGUMENT naming the position of the damage; UNIMPLEMENTED for newer versions;
     *     RESOURCE_EXHAUSTED for too large a module
     */
    public static SpirvModule read(MemorySegment words, int[] constants) {
        return new SpirvReader(words, constants).read();
    }

    /**
     * Finds an entry point.
     *
     * @param name name of the entry point
     * @return the entry point
     * @throws IreeException INVALID_ARGUMENT naming the existing entry points
     */
    public SpirvEntryPoint entryPoint(String name) {
        for (SpirvEntryPoint candidate : entryPoints) {
            if (candidate.name().equals(name)) {
                return candidate;
            }
        }
        List<String> known =
                entryPoints.stream().limit(8).map(SpirvEntryPoint::name).toList();
        throw IreeException.of(
                StatusCode.INVALID_ARGUMENT,
                "SPIR-V module has no compute entry point '%s', it has %d: %s%s"
                        .formatted(
                                name,
                                entryPoints.size(),
                                String.join(", ", known),
                                entryPoints.size() > known.size() ? ", ..." : ""));
    }
}
