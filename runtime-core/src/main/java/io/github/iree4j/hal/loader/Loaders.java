package io.github.iree4j.hal.loader;

import io.github.iree4j.hal.UnsupportedTarget;
import io.github.iree4j.nativeaccess.CpuFeatures;
import io.github.iree4j.nativeaccess.NativeLibrary;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.Services;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The loaders of a device, in order of preference. For backends; safe from any thread. */
public final class Loaders {
    /** Beginning of the format that a part outside of the core loads. */
    private static final String PORTABLE = "vmvx-";

    private final List<ExecutableLoader> loaders;
    private final Set<String> allowed; // formats; empty for all except formats for the system's loader

    /**
     * Creates a list of the given loaders, then the built-in loaders, then the loaders of the service loader.
     *
     * @param first loaders to try first
     * @param allowed formats that may be loaded; empty for all except formats for the operating system's loader
     */
    public Loaders(List<ExecutableLoader> first, Set<String> allowed) {
        this.allowed = allowed;
        List<ExecutableLoader> all = new ArrayList<>(first);
        all.add(ElfLoader.embedded());
        all.add(ElfLoader.bySystem());
        all.addAll(Services.of(ExecutableLoader.class));
        this.loaders = List.copyOf(all);
    }

    /**
     * Returns the loader of a format.
     *
     * @param format name of the format in executables
     * @return the first loader supporting the format; null without such a loader, or when the format is not allowed
     */
    public @Nullable ExecutableLoader find(String format) {
        if (!isAllowed(format)) {
            return null;
        }
        for (ExecutableLoader loader : loaders) {
            if (loader.supports(format)) {
                return loader;
            }
        }
        return null;
    }

    /**
     * Returns the formats that can be loaded.
     *
     * @return formats, each once
     */
    public List<String> formats() {
        return loaders.stream()
                .flatMap(loader -> loader.formats().stream())
                .filter(this::isAllowed)
                .distinct()
                .toList();
    }

    /**
     * Returns the compiler flags for a format.
     *
     * @param format a format of {@link #formats}
     * @return flags of iree-compile; empty when unknown
     */
    public String compileFlags(String format) {
        ExecutableLoader loader = find(format);
        return loader == null ? "" : loader.compileFlags(format);
    }

    private boolean isAllowed(String format) {
        return allowed.contains(format) || (allowed.isEmpty() && !ElfLoader.isForSystem(format));
    }

    /**
     * Returns the reason, with the remedy, why a format cannot be loaded.
     *
     * @param deviceId the loading device
     * @param format a format without a loader from {@link #find}
     * @return PERMISSION_DENIED or INCOMPATIBLE
     */
    public IreeException unsupported(String deviceId, String format) {
        boolean isThere = loaders.stream().anyMatch(loader -> loader.supports(format));
        if (!isAllowed(format) && ElfLoader.isForSystem(format) && isThere) {
            return IreeException.of(
                    StatusCode.PERMISSION_DENIED,
                    "device '%s' runs executables of format '%s', shared libraries that the operating system loads and that may do anything, only if the format is explicitly allowed (iree.executables.allowed-formats, DeviceOptions.executableFormats, --executable_formats); compile the program without --iree-llvmcpu-link-embedded=false, or allow the format if you trust the program"
                            .formatted(deviceId, format),
                    null,
                    new UnsupportedTarget(List.of(format)));
        }
        if (!allowed.isEmpty() && !isAllowed(format)) {
            return IreeException.of(
                    StatusCode.PERMISSION_DENIED,
                    "device '%s' may not run executables of format '%s', it is limited to %s; compile the program for one of these, or allow the format if you trust the program"
                            .formatted(deviceId, format, String.join(", ", new TreeSet<>(allowed))));
        }
        IreeException noNative = NativeLibrary.unavailabilityCause();
        String formats = String.join(", ", formats());
        return IreeException.of(
                StatusCode.INCOMPATIBLE,
                "device '%s' cannot run executables of format '%s', it runs %s; %s"
                        .formatted(
                                deviceId,
                                format,
                                formats.isEmpty() ? "none" : formats,
                                noNative == null || format.startsWith(PORTABLE)
                                        ? "compile the program for this machine or choose another device"
                                                + (format.startsWith(PORTABLE)
                                                        ? ", or add the dependency io.github.iree4j:iree4j-vmvx"
                                                        : "")
                                        : "compiled code needs the native library: " + noNative.getMessage()),
                noNative,
                new UnsupportedTarget(List.of(format)));
    }

    /**
     * Returns whether the CPU has a feature.
     *
     * @param key a feature as named by programs
     * @return 1 or 0; empty for an unknown name, and without the native library
     */
    public OptionalLong cpuFeature(String key) {
        return NativeLibrary.unavailabilityCause() == null && CpuFeatures.isKnown(key)
                ? OptionalLong.of(CpuFeatures.has(key) ? 1 : 0)
                : OptionalLong.empty();
    }
}
