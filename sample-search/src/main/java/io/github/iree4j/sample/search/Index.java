package io.github.iree4j.sample.search;

import io.github.iree4j.spring.ai.encoder.IreeReranker;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.ai.document.Document;
import org.springframework.ai.rag.Query;
import org.springframework.ai.vectorstore.SearchRequest;
import org.springframework.ai.vectorstore.VectorStore;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

/**
 * Adds the passages to the vector store once the application is ready, and searches the store. Passages are searchable
 * while others are still being added.
 */
@Component
final class Index {

    private static final Logger LOGGER = LoggerFactory.getLogger(Index.class);
    private static final int TOGETHER = 16;

    private final Documents documents;
    private final VectorStore store;
    private final IreeReranker reranker;
    private final Thread filler = Thread.ofVirtual().name("index").unstarted(this::fill);

    private volatile Progress progress = new Progress(0, 0, null);

    Index(Documents documents, VectorStore store, IreeReranker reranker) {
        this.documents = documents;
        this.store = store;
        this.reranker = reranker;
    }

    /**
     * Progress of indexing.
     *
     * @param passages number of passages; 0 before the documents are read
     * @param indexed number of searchable passages
     * @param problem why indexing stopped; null without a failure
     */
    record Progress(int passages, int indexed, @Nullable String problem) {}

    /**
     * A search result.
     *
     * @param passage the passage
     * @param score relevance if reranked, otherwise similarity, 1 for identical
     * @param nearest place by similarity, from 1
     */
    record Hit(Passage passage, double score, int nearest) {}

    Progress progress() {
        return progress;
    }

    /** The nearest passages. */
    List<Hit> find(String query, int most) {
        List<Document> nearest = store.similaritySearch(
                SearchRequest.builder().query(query).topK(most).build());
        return hits(nearest, nearest, most);
    }

    /** The most relevant of the 50 nearest passages. */
    List<Hit> findReranked(String query, int most) {
        List<Document> nearest = store.similaritySearch(
                SearchRequest.builder().query(query).topK(50).build());
        List<Document> relevant = reranker.process(new Query(query), nearest);
        return hits(relevant, nearest, most);
    }

    private static List<Hit> hits(List<Document> found, List<Document> nearest, int most) {
        List<String> order = nearest.stream().map(Document::getId).toList();
        return found.stream()
                .limit(most)
                .map(document -> hit(document, 1 + order.indexOf(document.getId())))
                .toList();
    }

    @EventListener(ApplicationReadyEvent.class)
    void start() {
        filler.start();
    }

    /** Waits until indexing has ended. */
    void join() throws InterruptedException {
        filler.join();
    }

    private void fill() {
        long began = System.nanoTime();
        try {
            List<Passage> passages = documents.passages();
            for (int from = 0; from < passages.size(); from += TOGETHER) {
                progress = new Progress(passages.size(), from, null);
                store.add(passages.subList(from, Math.min(from + TOGETHER, passages.size())).stream()
                        .map(Index::document)
                        .toList());
            }
            progress = new Progress(passages.size(), passages.size(), null);
            LOGGER.info("indexed {} passages in {} ms", passages.size(), (System.nanoTime() - began) / 1_000_000);
        } catch (RuntimeException e) {
            if (filler.isInterrupted()) {
                return; // the application is stopping
            }
            progress = new Progress(progress.passages, progress.indexed, String.valueOf(e.getMessage()));
            LOGGER.error("indexing stopped after {} of {} passages", progress.indexed, progress.passages, e);
        }
    }

    private static Document document(Passage passage) {
        String key = String.join("\0", passage.page(), passage.heading(), passage.text());
        return Document.builder()
                // Of the passage: in a database, each start replaces the passages of the start before.
                .id(UUID.nameUUIDFromBytes(key.getBytes(StandardCharsets.UTF_8)).toString())
                .text(passage.content())
                .metadata(Map.of(
                        "page", passage.page(),
                        "title", passage.title(),
                        "heading", passage.heading(),
                        "text", passage.text()))
                .build();
    }

    private static Hit hit(Document document, int nearest) {
        Map<String, Object> metadata = document.getMetadata();
        Double score = document.getScore();
        return new Hit(
                new Passage(
                        String.valueOf(metadata.get("page")),
                        String.valueOf(metadata.get("title")),
                        String.valueOf(metadata.get("heading")),
                        String.valueOf(metadata.get("text"))),
                score == null ? 0 : score,
                nearest);
    }

    /** Stops indexing before programs reject calls. */
    @EventListener(ContextClosedEvent.class)
    void stop() {
        filler.interrupt();
    }
}
