/* Splitting step by step. Relies on: text/pattern, text/unicode, text/utf8. */
#include "text/pretokenize.h"

#include "text/tokenizer.h"
#include "text/utf8.h"

void ss_splitter_free(ss_splitter *splitter) {
    for (size_t i = 0; i < splitter->count; i++) ss_pattern_free(splitter->steps[i].pattern);
    splitter->count = 0;
}

void ss_split_work_free(ss_split_work *work) {
    ss_bytes_free(&work->text);
    ss_bytes_free(&work->spare_text);
    ss_spans_free(&work->pieces);
    ss_spans_free(&work->spare_pieces);
    ss_spans_free(&work->cover);
    ss_matcher_free(work->matcher);
}

static ss_status cover_by_class(ss_code_class set, const char *text, ss_span piece, ss_spans *out,
                                ss_error *error) {
    size_t covered = piece.begin;
    for (size_t at = piece.begin, next; at < piece.end; at = next) {
        uint32_t code_point;
        bool valid;
        next = at + ss_utf8_read(text + at, piece.end - at, &code_point, &valid);
        if (!ss_in_class(set, code_point)) continue;
        if (covered < at) SS_TRY(ss_spans_add(out, (ss_span){covered, at, SS_NO_TOKEN, false}, error));
        SS_TRY(ss_spans_add(out, (ss_span){at, next, SS_NO_TOKEN, true}, error));
        covered = next;
    }
    if (covered == piece.end) return SS_OK;
    return ss_spans_add(out, (ss_span){covered, piece.end, SS_NO_TOKEN, false}, error);
}

/* Are two neighbours of the cover one piece? */
static bool joins(ss_split_behavior behavior, bool left_matched, bool right_matched) {
    switch (behavior) {
    case SS_SPLIT_CONTIGUOUS:
        return left_matched == right_matched;
    case SS_SPLIT_WITH_PREVIOUS:
        return !left_matched && right_matched;
    case SS_SPLIT_WITH_NEXT:
        return left_matched && !right_matched;
    case SS_SPLIT_ISOLATED:
    case SS_SPLIT_REMOVED:
        break;
    }
    return false;
}

static ss_status add_pieces(const ss_split_step *step, const ss_spans *cover, ss_spans *out,
                            ss_error *error) {
    for (size_t i = 0; i < cover->count; i++) {
        ss_span part = cover->items[i];
        bool matched = part.matched != step->invert;
        if (step->behavior == SS_SPLIT_REMOVED && matched) continue;
        bool joined = i > 0 && joins(step->behavior, cover->items[i - 1].matched != step->invert, matched);
        if (joined)
            out->items[out->count - 1].end = part.end;
        else
            SS_TRY(ss_spans_add(out, part, error));
    }
    return SS_OK;
}

static ss_status split_pieces(const ss_split_step *step, ss_split_work *work, ss_error *error) {
    for (size_t i = 0; i < work->pieces.count; i++) {
        ss_span piece = work->pieces.items[i];
        work->cover.count = 0;
        if (step->pattern)
            SS_TRY(ss_pattern_cover(step->pattern, work->matcher, work->text.data, piece.begin, piece.end,
                                    &work->cover, error));
        else
            SS_TRY(cover_by_class(step->set, work->text.data, piece, &work->cover, error));
        SS_TRY(add_pieces(step, &work->cover, &work->spare_pieces, error));
    }
    return SS_OK;
}

static ss_status prefix_pieces(ss_split_work *work, ss_error *error) {
    ss_bytes *out = &work->spare_text;
    out->length = 0;
    for (size_t i = 0; i < work->pieces.count; i++) {
        ss_span piece = work->pieces.items[i], moved = {.begin = out->length, .token = SS_NO_TOKEN};
        if (work->text.data[piece.begin] != ' ') SS_TRY(ss_bytes_add(out, " ", 1, error));
        SS_TRY(ss_bytes_add(out, work->text.data + piece.begin, piece.end - piece.begin, error));
        moved.end = out->length;
        SS_TRY(ss_spans_add(&work->spare_pieces, moved, error));
    }
    ss_bytes swapped = work->text;
    work->text = work->spare_text;
    work->spare_text = swapped;
    return SS_OK;
}

ss_status ss_split(const ss_splitter *splitter, ss_split_work *work, ss_error *error) {
    for (size_t i = 0; i < splitter->count; i++) {
        const ss_split_step *step = &splitter->steps[i];
        work->spare_pieces.count = 0;
        SS_TRY(step->prefix_space ? prefix_pieces(work, error) : split_pieces(step, work, error));
        ss_spans swapped = work->pieces;
        work->pieces = work->spare_pieces;
        work->spare_pieces = swapped;
    }
    return SS_OK;
}
