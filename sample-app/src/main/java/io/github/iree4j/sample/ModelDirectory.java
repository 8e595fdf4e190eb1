package io.github.iree4j.sample;

import io.github.iree4j.spring.ProgramLoadException;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.Programs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.annotation.Profile;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

/**
 * A directory with {@code .vmfb} files, served while present. {@code scale.vmfb} becomes program {@code scale}; {@code
 * scale.model.irpa} beside it holds the program's parameters of scope {@code model}, and {@code scale.irpa} the
 * parameters without a scope.
 *
 * <p>Compiled programs contain machine code: write access to this directory is equivalent to code execution in this
 * process.
 */
@Component
@Profile("!production | models")
class ModelDirectory {

    private static final Logger log = LoggerFactory.getLogger(ModelDirectory.class);
    private static final String MODULE = ".vmfb";
    private static final String ARCHIVE = ".irpa";

    private final Path directory;
    private final Programs programs;
    private final Map<String, FileTime> seen = new HashMap<>();
    private final Map<String, String> failures = new TreeMap<>();

    /** Watches the directory of property {@code sample.models}, {@code models} when not set. */
    ModelDirectory(@Value("${sample.models:models}") Path directory, Programs programs) {
        this.directory = directory;
        this.programs = programs;
    }

    /** Why files could not be loaded, by name of the program. */
    synchronized Map<String, String> failures() {
        return new TreeMap<>(failures);
    }

    /** Loads new and changed files, unloads removed files. A file that cannot be loaded is retried after a change. */
    @EventListener(ApplicationReadyEvent.class)
    public synchronized void refresh() {
        Map<String, Path> found = new TreeMap<>();
        for (Path file : files()) {
            String fileName = file.getFileName().toString();
            if (fileName.endsWith(MODULE)) {
                found.put(fileName.substring(0, fileName.length() - MODULE.length()), file);
            }
        }
        for (String name : List.copyOf(seen.keySet())) {
            if (!found.containsKey(name)) {
                seen.remove(name);
                if (failures.remove(name) == null) {
                    programs.unload(name);
                    log.info("program '{}' was removed", name);
                }
            }
        }
        found.forEach(this::load);
    }

    private void load(String name, Path file) {
        try {
            FileTime changed = Files.getLastModifiedTime(file);
            if (changed.equals(seen.get(name))) {
                return;
            }
            boolean isOurs = seen.containsKey(name) && !failures.containsKey(name);
            seen.put(name, changed);
            if (!isOurs && programs.find(name).isPresent()) {
                failures.put(name, "a configured program has this name");
                return;
            }
            // Copies: a newer file may overwrite the file being served.
            programs.loadCopy(ProgramSource.builder(name, file.toString())
                    .parameters(parameters(name))
                    .build());
            failures.remove(name);
            log.info("serving '{}' from {}", name, file);
        } catch (ProgramLoadException | IOException e) {
            if (failures.put(name, String.valueOf(e.getMessage())) == null && programs.unload(name)) {
                log.info("program '{}' was removed", name);
            }
            log.warn("cannot serve {}: {}", file, e.getMessage());
        }
    }

    private Map<String, List<String>> parameters(String name) {
        Map<String, List<String>> scopes = new TreeMap<>();
        for (Path file : files()) {
            String fileName = file.getFileName().toString();
            if (!fileName.startsWith(name + ".") || !fileName.endsWith(ARCHIVE)) {
                continue;
            }
            String scope = fileName.equals(name + ARCHIVE)
                    ? ProgramSource.DEFAULT_SCOPE
                    : fileName.substring(name.length() + 1, fileName.length() - ARCHIVE.length());
            scopes.computeIfAbsent(scope, _ -> new ArrayList<>()).add(file.toString());
        }
        return scopes;
    }

    private List<Path> files() {
        if (!Files.isDirectory(directory)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(Files::isRegularFile).sorted().toList();
        } catch (IOException e) {
            log.warn("cannot list {}: {}", directory, e.toString());
            return List.of();
        }
    }
}
