package io.github.iree4j.spring.console;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;

/**
 * The files of the console, in memory: some 205 kB, read once. A request can name only these files, so no path leads
 * anywhere else. Immutable, safe from any thread.
 */
public final class ConsoleFiles {

    private static final String ROOT = "META-INF/iree-console/";

    private final Map<String, ConsoleFile> files;

    private ConsoleFiles(Map<String, ConsoleFile> files) {
        this.files = Map.copyOf(files);
    }

    /**
     * Reads the files from the class path.
     *
     * @param loader the class loader of the files
     * @return the files; none when {@code iree4j-console} is not on the class path
     * @throws UncheckedIOException when a file cannot be read
     */
    public static ConsoleFiles read(ClassLoader loader) {
        Map<String, ConsoleFile> files = new HashMap<>();
        try {
            for (Resource each :
                    new PathMatchingResourcePatternResolver(loader).getResources("classpath*:" + ROOT + "**")) {
                String location = each.getURL().getPath();
                String name = location.substring(location.lastIndexOf(ROOT) + ROOT.length());
                if (!name.isEmpty() && !name.endsWith("/") && each.isReadable()) {
                    try (InputStream content = each.getInputStream()) {
                        files.put(name, ConsoleFile.of(name, content.readAllBytes()));
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the files of the console cannot be read", e);
        }
        return new ConsoleFiles(files);
    }

    /**
     * Finds a file.
     *
     * @param name path below the console's own, without a leading slash; empty for the page
     * @return the file; null for an unknown name
     */
    @Nullable
    ConsoleFile find(String name) {
        return files.get(name.isEmpty() ? "index.html" : name);
    }
}
