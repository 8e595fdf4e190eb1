package io.github.iree4j.sample.search;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.ResourcePatternResolver;
import org.springframework.stereotype.Component;

/** The searchable documents: Markdown files below {@code search.documents}. */
@Component
final class Documents {

    private final ResourcePatternResolver resources;
    private final SearchProperties properties;

    Documents(ResourcePatternResolver resources, SearchProperties properties) {
        this.resources = resources;
        this.properties = properties;
    }

    /**
     * All passages of all documents.
     *
     * @throws UncheckedIOException when a document cannot be read
     */
    List<Passage> passages() {
        String root = properties.documents();
        try {
            List<Resource> files = new ArrayList<>(Arrays.asList(resources.getResources(root + "**/*.md")));
            files.sort(Comparator.comparing(file -> path(file, root)));
            List<Passage> passages = new ArrayList<>();
            for (Resource file : files) {
                passages.addAll(Markdown.passages(path(file, root), file.getContentAsString(StandardCharsets.UTF_8)));
            }
            return passages;
        } catch (IOException e) {
            throw new UncheckedIOException("documents of '%s' cannot be read".formatted(root), e);
        }
    }

    /** The path relative to the root. */
    private static String path(Resource file, String root) {
        try {
            String url = file.getURL().toString();
            String end = root.substring(root.indexOf(':') + 1);
            int at = url.lastIndexOf(end);
            return at < 0 ? String.valueOf(file.getFilename()) : url.substring(at + end.length());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
