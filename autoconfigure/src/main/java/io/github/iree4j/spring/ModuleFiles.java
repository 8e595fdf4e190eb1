package io.github.iree4j.spring;

import io.github.iree4j.status.FileKind;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import org.springframework.core.io.Resource;
import org.springframework.core.io.ResourceLoader;

/**
 * Files of a program during loading. Regular files are used in place unless copies are requested; any other resource,
 * such as a jar entry, is copied to a private temporary file, because the runtime maps modules and archives into
 * memory. Closing deletes the copies: mappings outlive the names of the files.
 */
final class ModuleFiles implements AutoCloseable {

    private final ResourceLoader resources;
    private final boolean copyAll;
    private final List<Path> copies = new ArrayList<>();

    /** Resolves files with {@code resources}; copies all files if {@code copyAll}. */
    ModuleFiles(ResourceLoader resources, boolean copyAll) {
        this.resources = resources;
        this.copyAll = copyAll;
    }

    /**
     * Returns the file at a location.
     *
     * @param purpose the purpose of the file, used in the error message
     * @throws FileNotFoundException when the location does not exist
     * @throws io.github.iree4j.status.IreeException INVALID_ARGUMENT for a pipe, a device or a directory
     */
    Path file(String location, String purpose) throws IOException {
        Resource resource = resources.getResource(location);
        if (!resource.exists()) {
            throw new FileNotFoundException("%s: there is no %s"
                    .formatted(
                            purpose,
                            resource.isFile()
                                    ? "file '%s'".formatted(resource.getFile().getAbsolutePath())
                                    : resource.getDescription()));
        }
        if (resource.isFile()) {
            Path file = resource.getFile().toPath();
            FileKind.requireRegular(purpose, file);
            if (!copyAll) {
                return file;
            }
        }
        try (InputStream in = resource.getInputStream()) { // first: a stream that never opens leaves no copy behind
            Path copy = Files.createTempFile("iree4j-", ".bin");
            copies.add(copy);
            Files.copy(in, copy, StandardCopyOption.REPLACE_EXISTING);
            return copy;
        }
    }

    @Override
    public void close() {
        for (Path copy : copies) {
            try {
                Files.deleteIfExists(copy);
            } catch (IOException e) {
                copy.toFile().deleteOnExit();
            }
        }
    }
}
