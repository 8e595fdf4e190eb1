package io.github.iree4j.hal.vulkan;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Finds out why the Vulkan library lists no device. */
final class MissingDevices {
    /** Directories of driver manifests, besides directories in the environment. */
    private static final List<String> MANIFESTS = List.of("/etc/vulkan/icd.d", "/usr/share/vulkan/icd.d");

    private static final List<String> VARIABLES = List.of("VK_DRIVER_FILES", "VK_ICD_FILENAMES");

    private MissingDevices() {}

    static String explain() {
        List<String> drivers = new ArrayList<>();
        for (String directory : MANIFESTS) {
            list(Path.of(directory), ".json").forEach(file -> drivers.add(file.toString()));
        }
        for (String variable : VARIABLES) {
            String files = System.getenv(variable);
            if (files != null) {
                drivers.add(variable + "=" + files);
            }
        }
        if (drivers.isEmpty()) {
            return "the Vulkan library has no driver: there is no file in " + String.join(" or ", MANIFESTS)
                    + "; install a driver, for example mesa-vulkan-drivers";
        }
        List<String> closed = new ArrayList<>();
        for (Path node : list(Path.of("/dev/dri"), "")) {
            if (node.getFileName().toString().startsWith("render")
                    && !(Files.isReadable(node) && Files.isWritable(node))) {
                closed.add(node.toString());
            }
        }
        if (!closed.isEmpty()) {
            return "no Vulkan driver lists a device, and this process may not open " + String.join(", ", closed)
                    + "; grant its user access, usually through the group 'render' or 'video'";
        }
        return "no Vulkan driver lists a device; asked: " + String.join(", ", drivers)
                + (Files.exists(Path.of("/dev/dri"))
                        ? ""
                        : "; there is no /dev/dri, as in a container without devices");
    }

    private static List<Path> list(Path directory, String suffix) {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.toString().endsWith(suffix))
                    .sorted()
                    .toList();
        } catch (IOException | RuntimeException e) { // missing or not readable: no name to report
            return List.of();
        }
    }
}
