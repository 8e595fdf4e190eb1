package io.github.iree4j.spring.ai;

import io.github.iree4j.status.FileKind;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.io.InputStream;
import org.springframework.core.io.Resource;

/** A file that belongs to a model, read as a whole. */
final class ModelFile {
    private ModelFile() {}

    /**
     * Reads a file.
     *
     * @param file the file
     * @param name what the file must be, such as {@code config.json}
     * @param most maximum number of bytes
     * @return the bytes
     * @throws IreeException NOT_FOUND when the file does not exist; DATA_LOSS when the file cannot be read;
     *     INVALID_ARGUMENT when the file is a directory, a pipe or a device; RESOURCE_EXHAUSTED when the file is larger
     */
    static byte[] read(Resource file, String name, int most) {
        String location = file.getDescription();
        try (InputStream in = opened(file, name)) {
            byte[] bytes = in.readNBytes(most + 1);
            if (bytes.length > most) {
                throw IreeException.of(
                        StatusCode.RESOURCE_EXHAUSTED,
                        "%s has more than %d bytes, too many for a %s".formatted(location, most, name));
            }
            return bytes;
        } catch (IOException e) {
            boolean missing = !file.exists();
            throw IreeException.of(
                    missing ? StatusCode.NOT_FOUND : StatusCode.DATA_LOSS,
                    "%s %s; it must be the %s of the model"
                            .formatted(
                                    location,
                                    missing ? "does not exist" : "cannot be read: %s".formatted(e.getMessage()),
                                    name),
                    e);
        }
    }

    private static InputStream opened(Resource file, String name) throws IOException {
        if (file.isFile() && file.exists()) {
            FileKind.requireRegular(name, file.getFile().toPath());
        }
        return file.getInputStream();
    }
}
