package io.github.iree4j;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The modules of the project, for tests that compare a page or a table with all code. */
public final class Modules {
    private Modules() {}

    /**
     * Returns the directories of the modules with a folder, seen from the directory of a module.
     *
     * @param folder relative to a module
     */
    public static List<Path> with(Path folder) {
        try (Stream<Path> siblings = Files.list(Path.of(".."))) {
            return siblings.filter(each -> Files.isDirectory(each.resolve(folder)))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Returns folders of that name of all modules.
     *
     * @param folder relative to a module
     */
    public static List<Path> folders(String folder) {
        Path relative = Path.of(folder);
        return with(relative).stream().map(each -> each.resolve(relative)).toList();
    }
}
