package io.github.iree4j;

import io.github.iree4j.hal.loader.Loaders;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The parts of this project that an application adds only if a program or a device needs the part. Safe from any thread. */
public final class MissingPart {
    private static final String GPU = "iree4j-backend-gpu";
    private static final String VMVX = "vmvx";

    /** Artifacts by the beginning of what a program or a property asks for. */
    private static final Map<String, String> ARTIFACTS =
            Map.of("cuda", GPU, "hip", GPU, "rocm", GPU, "vulkan", "iree4j-backend-vulkan", VMVX, "iree4j-vmvx");

    private MissingPart() {}

    /**
     * Returns the dependency that a target needs and that the application lacks.
     *
     * @param target name of a driver, id or pattern of a device, format of executables, or name of an imported module, for
     *     example {@code vulkan}, {@code cuda:0}, {@code vmvx-bytecode-fb}
     * @return group and artifact, for example {@code io.github.iree4j:iree4j-vmvx}; null when the part is installed, or when
     *     no part of this project knows the target
     */
    public static @Nullable String of(String target) {
        return ARTIFACTS.entrySet().stream()
                .filter(each -> isNamed(each.getKey(), target) && !isInstalled(each.getKey()))
                .map(each -> "io.github.iree4j:" + each.getValue())
                .findFirst()
                .orElse(null);
    }

    /** The remedy as the end of a message; empty when no part is missing. */
    static String remedy(Iterable<String> targets) {
        for (String target : targets) {
            String artifact = of(target);
            if (artifact != null) {
                return "; add the dependency " + artifact;
            }
        }
        return "";
    }

    private static boolean isNamed(String part, String target) {
        return target.startsWith(part)
                && (target.length() == part.length() || !Character.isLetterOrDigit(target.charAt(part.length())));
    }

    private static boolean isInstalled(String part) {
        if (part.equals(VMVX)) {
            return new Loaders(List.of(), Set.of()).formats().stream().anyMatch(each -> each.startsWith(VMVX));
        }
        String driver = part.equals("rocm") ? "hip" : part;
        return Drivers.all().stream().anyMatch(each -> each.name().equals(driver));
    }
}
