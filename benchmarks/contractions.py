"""Sets of contractions: of the thesis, like those of the benchmark of Springer and Bientinesi, networks of tensors."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """An expression, and the size of each label; `group` says where it comes from."""

    group: str
    expression: str
    sizes: dict[str, int]

    def shapes(self, most: int | None = None) -> list[tuple[int, ...]]:
        """The shapes of its operands, with no size above `most`."""
        inputs = self.expression.split("->")[0].split(",")
        return [tuple(min(self.sizes[k], most or self.sizes[k]) for k in labels) for labels in inputs]


def case(group: str, expression: str, *sizes: int) -> Case:
    """Sizes are those of the labels in alphabetical order; a single one is that of all."""
    labels = sorted(set(expression) - set(",->"))
    given = sizes * len(labels) if len(sizes) == 1 else sizes
    return Case(group, expression, dict(zip(labels, given, strict=True)))


CASES = (
    # Tab. 1 of Steinert (2025), after Breuer et al. (2025)
    case("thesis", "pq,qr->pr", 384),
    case("thesis", "qp,qr->pr", 384),
    case("thesis", "pq,pq->pq", 1000),
    case("thesis", "pq,pq->", 1000),
    case("thesis", "pq,qr->pqr", 100),
    case("thesis", "pq,rs->pqrs", 32),
    # its three layouts of tiles, section 6.4
    case("thesis", "adcf,cfbe->adbe", 4, 4, 4, 64, 64, 64),
    case("thesis", "acdf,bcfe->adbe", 4, 4, 4, 64, 64, 64),
    case("thesis", "acdf,bcfe->abde", 4, 4, 4, 64, 64, 64),
    # members of the benchmark of Springer and Bientinesi (2018), listed below; its last three are among them
    case("tccg", "efbad,cf->abcde", 24, 16, 16, 24, 16, 24),
    case("tccg", "dbea,ec->abcd", 48, 32, 24, 32, 48),
    case("tccg", "dega,gfbc->abcdef", 12, 12, 12, 12, 12, 12, 16),
    case("tccg", "ebad,ce->abcd", 32, 32, 24, 48, 48),
    case("tccg", "bda,dc->abc", 96, 96, 64, 96),
    case("tccg", "aebf,dfce->abcd", 24, 24, 24, 24, 16, 16),
    case("tccg", "aebf,fdec->abcd", 24, 24, 24, 24, 16, 16),
    case("tccg", "eafd,fbec->abcd", 24, 24, 24, 24, 16, 16),
    case("tccg", "dfgb,geac->abcdef", 12, 12, 12, 12, 12, 12, 16),
    case("tccg", "cad,dcb->ab", 192, 192, 32, 48),
    case("tccg", "acd,db->abc", 96, 96, 64, 96),
    # attention and layers of networks
    case("network", "bqhd,bkhd->bhqk", 2, 64, 8, 128, 128),
    case("network", "bhqk,bkhd->bqhd", 2, 64, 8, 128, 128),
    case("network", "bsd,dhe->bshe", 2, 256, 64, 8, 128),
    case("network", "bshe,hed->bsd", 2, 256, 64, 8, 128),
    case("network", "bi,oi->bo", 64, 512, 512),
    case("network", "bij,bjk->bik", 64, 48, 48, 48),
    # several operands: bilinear forms, a factor model, a chain, a small network of tensors
    case("path", "bi,oij,bj->bo", 64, 64, 64, 32),
    case("path", "ir,jr,kr->ijk", 64, 64, 64, 32),
    case("path", "ij,jk,kl,lm->im", 200, 100, 300, 50, 200),
    case("path", "abc,bde,cdf,efa->", 20),
)

# The 48 contractions of TCCG, the benchmark of Springer and Bientinesi: output, first input, second input. The thesis
# names no member, so that the list is as it is known. First the 24 of their paper (2018), by arithmetic intensity
# there, the lowest first. Sizes are small, and no multiples of those of tiles.
_SPRINGER = (
    "abcde-efbad-cf", "abcde-efcad-bf", "abcd-dbea-ec", "abcde-ecbfa-fd", "abcd-deca-be", "abc-bda-dc",
    "abcd-ebad-ce", "abcdef-dega-gfbc", "abcdef-dfgb-geac", "abcdef-degb-gfac", "abcdef-degc-gfab", "abc-dca-bd",
    "abcd-ea-ebcd", "abcd-eb-aecd", "abcd-ec-abed", "abc-adec-ebd", "ab-cad-dcb", "ab-acd-dbc", "abc-acd-db",
    "abc-adc-bd", "ab-ac-cb", "abcd-aebf-fdec", "abcd-eafd-fbec", "abcd-aebf-dfce",
)  # fmt: skip
# The others: of the same kinds, and the two sets of coupled-cluster theory, CCSD(T).
_OTHERS = (
    "abc-ad-bdc", "abc-adc-db", "abcd-aecf-bfde", "abcd-aecf-fbed", "abcd-aedf-bfce", "abcd-aedf-fbec",
    "abcd-aefb-fdce", "abcd-aefc-fbed", "abcd-eafb-fdec", "abcd-eafc-bfde",
    "abcdef-dfga-gebc", "abcdef-dfgc-geab", "abcdef-efga-gdbc", "abcdef-efgb-gdac", "abcdef-efgc-gdab",
    "abcdef-gdab-efgc", "abcdef-gdac-efgb", "abcdef-gdbc-efga", "abcdef-geab-dfgc", "abcdef-geac-dfgb",
    "abcdef-gebc-dfga", "abcdef-gfab-degc", "abcdef-gfac-degb", "abcdef-gfbc-dega",
)  # fmt: skip
TCCG = tuple(
    case("tccg", "{1},{2}->{0}".format(*given.split("-")), *(6, 5, 7, 9, 4, 8, 3)[: len(set(given)) - 1])
    for given in (*_SPRINGER, *_OTHERS)
)

# Tab. 1 and section 6.4 of the thesis.
THESIS = tuple(chosen for chosen in CASES if chosen.group == "thesis")

# Attention, layers of networks, and networks of tensors.
NETWORKS = (
    case("attention", "bqhd,bkhd->bhqk", 2, 8, 4, 12, 12),
    case("attention", "bhqk,bkhd->bqhd", 2, 8, 4, 12, 12),
    case("attention", "bqhd,bkhd,bkhe->bqhe", 2, 6, 5, 2, 7, 7),
    case("attention", "bqgrd,bkgd->bgrqk", 2, 6, 2, 5, 7, 3),
    case("attention", "bgrqk,bkgd->bqgrd", 2, 6, 2, 5, 7, 3),
    case("attention", "bqc,bkc,hdc->bhqkd", 2, 6, 3, 2, 5, 4),
    case("attention", "bhqd,rd->bhqr", 2, 4, 2, 9, 5),
    case("layer", "bsd,dhe->bshe", 2, 12, 8, 4, 10),
    case("layer", "bshe,hed->bsd", 2, 12, 8, 4, 10),
    case("layer", "bi,oi->bo", 9, 20, 13),
    case("layer", "bsi,ij,jo->bso", 2, 12, 20, 9, 7),
    case("layer", "bse,ei,ebo->bsio", 3, 4, 5, 6, 7),
    case("layer", "bi,oij,bj->bo", 6, 7, 8, 5),
    case("layer", "bhwc,ijco->bhwijo", 2, 5, 4, 3, 2, 3, 6),
    case("layer", "sbe,ebi,eio->sbo", 4, 3, 6, 7, 5),
    case("path", "ir,jr,kr->ijk", 6, 7, 8, 5),
    case("path", "ijk,jr,kr->ir", 6, 7, 8, 5),
    case("path", "abc,ai,bj,ck->ijk", 4, 5, 6, 3, 4, 5),
    case("path", "ij,jk,kl,lm->im", 9, 10, 11, 12, 13),
    case("path", "abc,bde,cdf,efa->", 5),
    case("path", "aib,bjc,ckd,dla->ijkl", 3, 4, 3, 4, 4, 5, 4, 5),
    case("path", "aib,bjc,ckd->aijkd", 3, 4, 5, 6, 5, 4, 6),
    case("path", "axb,xyw,cyd,bwe->aced", 4, 3, 4, 3, 5, 4, 3, 4),
    case("path", "ab,bc,ca->", 8),
    case("path", "pqrs,pi,qj,rk,sl->ijkl", 5),
)
