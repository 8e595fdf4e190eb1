package io.github.iree4j;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.hal.loader.ExecutableLoader;
import io.github.iree4j.hal.loader.Loaders;
import io.github.iree4j.hal.spi.DriverProvider;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The parts of this project that an application adds only if a program or a device needs the part: what to do when such a
 * part is not found. Safe from any thread.
 */
@NotForApplications
public final class MissingPart {
    private static final String VMVX = "vmvx";

    /**
     * A part.
     *
     * @param artifact of group {@code io.github.iree4j}
     * @param provider the class of the part's service
     */
    private record Part(String artifact, String provider) {}

    /** Parts by the beginning of what a program or a property asks for. */
    private static final Map<String, Part> PARTS = Map.of(
            "local",
            new Part("iree4j-runtime-core", "io.github.iree4j.hal.local.LocalDriverProvider"),
            "cuda",
            new Part("iree4j-backend-gpu", "io.github.iree4j.hal.gpu.CudaDriverProvider"),
            "hip",
            new Part("iree4j-backend-gpu", "io.github.iree4j.hal.gpu.HipDriverProvider"),
            "rocm",
            new Part("iree4j-backend-gpu", "io.github.iree4j.hal.gpu.HipDriverProvider"),
            "vulkan",
            new Part("iree4j-backend-vulkan", "io.github.iree4j.hal.vulkan.VulkanDriverProvider"),
            "cluster",
            new Part("spring-boot-starter-iree-cluster", "io.github.iree4j.cluster.ClusterDriverProvider"),
            VMVX,
            new Part("iree4j-vmvx", "io.github.iree4j.modules.vmvx.VmvxExecutableLoader"));

    private MissingPart() {}

    /**
     * Returns the remedy for targets whose part is not found.
     *
     * @param targets names of drivers, ids or patterns of devices, formats of executables, or names of imported modules, for
     *     example {@code vulkan}, {@code cuda:0}, {@code vmvx-bytecode-fb}; any of these would suffice
     * @return an instruction without a period, such as {@code add the dependency io.github.iree4j:iree4j-vmvx}; empty when
     *     the parts are installed, or when no part of this project knows a target
     */
    public static Optional<String> remedy(Collection<String> targets) {
        return PARTS.entrySet().stream()
                .filter(each -> targets.stream().anyMatch(target -> isNamed(each.getKey(), target))
                        && !isInstalled(each.getKey()))
                .map(each -> remedy(each.getKey(), each.getValue()))
                .findFirst();
    }

    /**
     * Returns the remedy for a device whose driver is not found.
     *
     * @param driver the name of the driver, or the beginning of a device's id
     * @return an instruction without a period; empty when no part of this project knows the driver
     */
    public static Optional<String> remedyOfDevice(String driver) {
        return isNamed(VMVX, driver)
                ? Optional.of("use device 'local', which runs portable kernels")
                : remedy(List.of(driver));
    }

    private static String remedy(String name, Part part) {
        Class<?> service = name.equals(VMVX) ? ExecutableLoader.class : DriverProvider.class;
        return isPresent(part.provider)
                ? "keep the line '%s' in META-INF/services/%s, which is lost although the class is there: merge such files where jars are merged, and bind services where modules are linked"
                        .formatted(part.provider, service.getName())
                : "add the dependency io.github.iree4j:" + part.artifact;
    }

    private static boolean isPresent(String provider) {
        return MissingPart.class.getClassLoader().getResource(provider.replace('.', '/') + ".class") != null;
    }

    /** The remedy as the end of a message; empty when no part is missing. */
    static String atEnd(Collection<String> targets) {
        return atEnd(remedy(targets));
    }

    /** A remedy as the end of a message. */
    static String atEnd(Optional<String> remedy) {
        return remedy.map(text -> "; " + text).orElse("");
    }

    private static boolean isNamed(String part, String target) {
        return target.startsWith(part)
                && (target.length() == part.length() || !Character.isLetterOrDigit(target.charAt(part.length())));
    }

    private static boolean isInstalled(String part) {
        if (part.equals(VMVX)) {
            return new Loaders(List.of(), Set.of()).formats().stream().anyMatch(each -> each.startsWith(VMVX));
        }
        return DriverProvider.installed().stream().anyMatch(each -> each.isNamed(part));
    }
}
