package io.github.iree4j.sample.search;

import io.github.iree4j.spring.ai.encoder.IreeEmbeddingModel;
import java.util.List;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** Serves the page's requests: {@code GET /search} and {@code GET /model}. */
@RestController
final class SearchController {

    private static final int MOST = 50;

    private final Index index;
    private final IreeEmbeddingModel model;
    private final SearchProperties properties;

    SearchController(Index index, IreeEmbeddingModel model, SearchProperties properties) {
        this.index = index;
        this.model = model;
        this.properties = properties;
    }

    /**
     * The results.
     *
     * @param query the query
     * @param hits the nearest first, or if reranked, the most relevant
     * @param isReranked whether the hits were reranked
     * @param millis the duration of the search
     * @param index progress of indexing
     */
    record Answer(String query, List<Index.Hit> hits, boolean isReranked, double millis, Index.Progress index) {}

    /**
     * The model in use.
     *
     * @param name the name of the model
     * @param dimensions length of an embedding
     * @param isSmall whether it is the model bundled with this application
     * @param index progress of indexing
     */
    record Model(String name, int dimensions, boolean isSmall, Index.Progress index) {}

    @GetMapping("/search")
    Answer search(
            @RequestParam(name = "q") String query,
            @RequestParam(defaultValue = "8") int limit,
            @RequestParam(defaultValue = "false") boolean rerank) {
        if (query.length() > properties.maxQueryLength()) {
            throw refused(
                    "'q' has %d characters; the limit is %d".formatted(query.length(), properties.maxQueryLength()));
        }
        if (limit < 1 || limit > MOST) {
            throw refused("'limit' must be between 1 and %d, not %d".formatted(MOST, limit));
        }
        long began = System.nanoTime();
        List<Index.Hit> hits = hits(query, limit, rerank);
        return new Answer(query, hits, rerank, (System.nanoTime() - began) / 1e6, index.progress());
    }

    private List<Index.Hit> hits(String query, int limit, boolean rerank) {
        if (query.codePoints().noneMatch(Character::isLetterOrDigit)) {
            return List.of();
        }
        return rerank ? index.findReranked(query, limit) : index.find(query, limit);
    }

    private static ResponseStatusException refused(String why) {
        return new ResponseStatusException(HttpStatus.BAD_REQUEST, why);
    }

    @GetMapping("/model")
    Model model() {
        return new Model(model.model(), model.dimensions(), "small-encoder".equals(model.model()), index.progress());
    }
}
